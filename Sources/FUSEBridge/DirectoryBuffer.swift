import BucketFileSystem
import CFUSE

/// Entries of a directory in the kernel's layout, as many as fit.
///
/// One request owns it and fills it from one thread at a time, then sends it: that is why it may change threads.
@safe
final class DirectoryBuffer: @unchecked Sendable {
    /// Inodes that the kernel will hold a lookup of once it has this buffer.
    private(set) var lookedUp: [InodeNumber] = []
    private let memory: UnsafeMutablePointer<CChar>
    private let capacity: Int
    private var count = 0
    let withAttributes: Bool

    /// - Parameter capacity: in bytes, as the kernel asked.
    init(capacity: Int, withAttributes: Bool) {
        unsafe memory = .allocate(capacity: capacity)
        self.capacity = capacity
        self.withAttributes = withAttributes
    }

    deinit { unsafe memory.deallocate() }

    var filled: UnsafeBufferPointer<CChar> { unsafe UnsafeBufferPointer(start: memory, count: count) }

    /// False, and nothing is added, if the entry does not fit.
    func append(_ entry: borrowing DirectoryEntry) -> Bool {
        let size = withAttributes ? addWithAttributes(entry) : add(entry)
        guard size <= capacity - count else { return false }
        count += size
        if withAttributes, let inode = entry.entry?.inode { lookedUp.append(inode) }
        return true
    }

    private func add(_ entry: borrowing DirectoryEntry) -> Int {
        var attributes = entry.kernelForm
        let cookie = off_t(entry.cookie)
        return unsafe withCString(entry.name.bytes) { name in
            unsafe fuse_add_direntry(nil, memory + count, capacity - count, name, &attributes, cookie)
        }
    }

    private func addWithAttributes(_ entry: borrowing DirectoryEntry) -> Int {
        // Inode 0 makes it a plain entry: `.` and `..` are not looked up.
        var parameters = entry.entry.map(fuse_entry_param.init) ?? fuse_entry_param()
        if parameters.ino == 0 { parameters.attr = entry.kernelForm }
        let cookie = off_t(entry.cookie)
        return unsafe withCString(entry.name.bytes) { name in
            unsafe fuse_add_direntry_plus(nil, memory + count, capacity - count, name, &parameters, cookie)
        }
    }
}
