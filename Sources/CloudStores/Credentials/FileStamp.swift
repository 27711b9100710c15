import Glibc

/// What tells one state of a file from the next without reading it.
struct FileStamp: Equatable, Sendable {
    /// Seconds since 1970.
    let modified: Int64
    private let nanoseconds: Int
    private let inode: UInt
    private let size: Int

    /// nil when there is no such file, or it cannot be seen.
    init?(_ path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        modified = Int64(status.st_mtim.tv_sec)
        nanoseconds = status.st_mtim.tv_nsec
        inode = status.st_ino
        size = status.st_size
    }
}
