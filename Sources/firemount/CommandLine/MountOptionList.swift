/// The value of `-o`: `name` or `name=value`, with commas between; `\,` is a comma and `\\` a backslash in a value.
struct MountOptionList {
    struct Item: Equatable {
        let name: String
        let value: String?
    }

    private(set) var items: [Item] = []

    init(_ text: String) {
        var word = ""
        var isEscaped = false
        for character in text {
            if isEscaped {
                if character != ",", character != "\\" { word.append("\\") }
                word.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "," {
                append(word)
                word = ""
            } else {
                word.append(character)
            }
        }
        append(isEscaped ? word + "\\" : word)
    }

    private mutating func append(_ word: String) {
        guard !word.isEmpty else { return }
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        items.append(Item(name: String(parts[0]), value: parts.count == 2 ? String(parts[1]) : nil))
    }
}

extension MountSettings {
    /// Applies one item of an `-o` list: an option of ours, a flag for the kernel, or a word meant for mount(8).
    mutating func apply(_ item: MountOptionList.Item) throws(UsageError) {
        let name = String(item.name.map { $0 == "_" ? "-" : $0 })
        if let option = Self.options.first(where: { $0.name == name && $0.isMountOption }) {
            return try option.apply(item.value, to: &self)
        }
        switch item.name {
        case "ro": isReadOnly = true
        case "rw": isReadOnly = false
        case _ where Self.kernelFlags.contains(item.name): kernelFlags.append(item.name)
        case _ where Self.isMeantForMount(item.name): break
        case "remount":
            throw UsageError("a mount cannot be changed while it is there; unmount it, then mount it again")
        default:
            throw UsageError("unknown mount option '\(item.name)'" + Self.suggestion(for: name))
        }
    }

    /// Handed to the kernel as they are.
    private static let kernelFlags: Set<String> = [
        "noexec", "nosuid", "nodev", "noatime", "nodiratime", "default_permissions",
    ]

    /// Words of fstab that mount(8), init and udisks act on, and defaults of every mount.
    private static let mountWords: Set<String> = [
        "defaults", "auto", "noauto", "user", "nouser", "users", "owner", "group", "_netdev", "no_netdev", "nofail",
        "exec", "suid", "dev", "async", "atime", "diratime", "relatime", "strictatime", "lazytime", "nolazytime",
        "silent", "loud", "comment", "helper", "uhelper",
    ]

    private static func isMeantForMount(_ name: String) -> Bool {
        mountWords.contains(name) || name.hasPrefix("x-") || name.hasPrefix("X-")
    }

    private static func suggestion(for name: String) -> String {
        let known = options.filter(\.isMountOption).map(\.name)
        return nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
    }
}
