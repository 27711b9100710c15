/// The mounts that this process sees, from `/proc/self/mountinfo` (proc(5)).
struct MountTable {
    struct Entry: Equatable {
        /// `major:minor`, unique among all mounts of the machine while it lasts.
        var device: String
        var mountPoint: String
        /// `fuse.firemount`.
        var type: String
        /// What is mounted: for ours, the bucket.
        var source: String
        /// The user who mounted it, where the file system says so, as FUSE does.
        var userID: UInt32?

        var isFiremount: Bool { type == "fuse.firemount" }
    }

    /// In the order they were mounted: of two on one mount point, the later one is seen.
    let entries: [Entry]

    init(parsing text: String) {
        entries = text.split(separator: "\n").compactMap(Self.entry)
    }

    static func current() throws(SystemError) -> MountTable {
        MountTable(parsing: String(decoding: try Files.contents(of: "/proc/self/mountinfo"), as: UTF8.self))
    }

    /// What is seen at `mountPoint`, a canonical path; nil: nothing is mounted exactly there.
    func entry(at mountPoint: String) -> Entry? {
        entries.last { $0.mountPoint == mountPoint }
    }

    /// `36 35 98:0 /root /mount/point rw,noatime shared:1 - type source rw,user_id=0`.
    private static func entry(_ line: Substring) -> Entry? {
        let fields = line.split(separator: " ", omittingEmptySubsequences: false)
        guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 2 else { return nil }
        let options = fields.count > dash + 3 ? fields[dash + 3].split(separator: ",") : []
        let user = options.first { $0.hasPrefix("user_id=") }
        return Entry(
            device: String(fields[2]), mountPoint: unescaped(fields[4]), type: unescaped(fields[dash + 1]),
            source: unescaped(fields[dash + 2]), userID: user.flatMap { UInt32($0.dropFirst("user_id=".count)) })
    }

    /// Undoes `\040` and its like.
    private static func unescaped(_ field: Substring) -> String {
        let bytes = Array(field.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let octal = bytes[index...].dropFirst().prefix(3)
            if bytes[index] == UInt8(ascii: "\\"), octal.count == 3,
                let byte = UInt8(String(decoding: octal, as: UTF8.self), radix: 8)
            {
                result.append(byte)
                index += 4
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
