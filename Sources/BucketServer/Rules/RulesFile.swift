import Glibc

/// A file of Security Rules on disk. It may be edited at any time: each question looks whether it has changed.
struct RulesFile: Sendable {
    /// What tells two states of a file apart.
    struct Stamp: Sendable, Equatable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let modified: Int128

        fileprivate init(_ status: stat) {
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            modified = Int128(status.st_mtim.tv_sec) * 1_000_000_000 + Int128(status.st_mtim.tv_nsec)
        }
    }

    let path: String

    /// The last part of the path, for errors and reasons.
    var name: String { path.split(separator: "/").last.map { String($0) } ?? path }

    /// Nil when there is no such file.
    func stamp() -> Stamp? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Stamp(status) : nil
    }

    /// The text and the state that it is of; nil when it cannot be read.
    func read() -> (text: String, stamp: Stamp)? {
        guard let file = OpenFile(path: path) else { return nil }
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0 else { return nil }
        // One byte more than a file may have: the parser says that it is too long.
        let count = min(Int(status.st_size), RulesParser.Limit.sourceBytes + 1)
        return (String(decoding: file.bytes(at: 0, count: count), as: UTF8.self), Stamp(status))
    }
}
