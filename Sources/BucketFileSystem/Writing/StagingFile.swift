import CISAL
import Glibc
import Locking

/// A file on the staging disk that holds a mount's unsaved bytes at their own offsets; sparse where nothing was staged.
/// Owned by one `StagedWrite`; its positioned reads and writes may come from any thread at once. The name goes with the
/// last reference, unless the journal keeps an entry for it.
final class StagingFile: Sendable {
    private let descriptor: Int32
    private let path: String
    /// What the journal says of it; nil: the bytes are of no use after a crash.
    let entry: StagedEntry?
    /// Whether the name goes with this object at all.
    private let isOwned: Bool
    private let budget: StagingBudget
    /// Bytes of the budget that this file has.
    private let taken = Lock(Int64(0))

    /// How the names of staging files begin.
    static let namePrefix = "staged-"

    /// - Throws: `.noSpace`, `.staging`.
    init(
        in directory: String, number: UInt64, budget: StagingBudget,
        entry: (_ file: String) -> StagedEntry? = { _ in nil }
    ) throws(FileSystemError) {
        self.budget = budget
        let name = "\(Self.namePrefix)\(number)"
        path = "\(directory)/\(name)"
        self.entry = entry(name)
        isOwned = true
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("cannot make \(path)") }
    }

    /// One that an earlier mount has left: it stays when this object goes.
    /// - Throws: `.staging`.
    init(opening path: String) throws(FileSystemError) {
        self.path = path
        entry = nil
        isOwned = false
        budget = StagingBudget(limit: nil)
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw Self.failure("cannot open \(path)") }
    }

    deinit {
        close(descriptor)
        budget.give(taken.withLock { $0 })
        if isOwned, entry?.outlivesItsOwner != true { unsafe unlink(path) }
    }

    /// `count` bytes more will be staged here.
    /// - Throws: `.noSpace`.
    func reserve(_ count: Int64) throws(FileSystemError) {
        guard count > 0 else { return }
        try budget.take(count)
        taken.withLock { $0 += count }
    }

    /// `count` bytes that were reserved were not written.
    func giveBack(_ count: Int64) {
        taken.withLock { $0 -= count }
        budget.give(count)
    }

    /// No more than `count` bytes are staged here.
    func giveBack(allBut count: Int64) {
        let freed = taken.withLock { taken in
            defer { taken = min(taken, count) }
            return max(0, taken - count)
        }
        budget.give(freed)
    }

    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe pwrite(
                descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                throw Self.failure("cannot write \(path)")
            }
            done += count
        }
    }

    /// Fills all of `buffer` from `offset`; what lies beyond the file's end reads as zeros.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) {
        var done = 0
        while done < buffer.count {
            let count = unsafe pread(
                descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + off_t(done))
            if count == 0 {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                _ = unsafe rest.initializeMemory(as: UInt8.self, repeating: 0)
                return
            }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw Self.failure("cannot read \(path)")
            }
            done += count
        }
    }

    /// Drops what lies at or above `size`, so that later growth reads as zeros.
    func truncate(to size: Int64) throws(FileSystemError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw Self.failure("cannot truncate \(path)") }
    }

    /// Copies the first `size` bytes into `other`.
    func copy(into other: StagingFile, size: Int64) throws(FileSystemError) {
        try other.reserve(size)
        var offset: Int64 = 0
        unsafe try withPieces(of: 0..<size) { piece throws(FileSystemError) in
            try unsafe other.write(piece, at: offset)
            offset += Int64(piece.count)
        }
    }

    /// How many bytes the file system says it has.
    var length: Int64 {
        get throws(FileSystemError) {
            var attributes = stat()
            guard unsafe fstat(descriptor, &attributes) == 0 else { throw Self.failure("cannot look at \(path)") }
            return Int64(attributes.st_size)
        }
    }

    /// CRC32C of the first `size` bytes.
    func checksum(size: Int64) throws(FileSystemError) -> UInt32 { try checksum(of: 0..<size) }

    func checksum(of range: Range<Int64>) throws(FileSystemError) -> UInt32 {
        var crc: UInt32 = 0
        unsafe try withPieces(of: range) { piece throws(FileSystemError) in
            unsafe crc = firemount_crc32c(crc, piece.baseAddress, piece.count)
        }
        return crc
    }

    /// Returns once the disk has what was written.
    func synchronize() throws(FileSystemError) {
        guard fdatasync(descriptor) == 0 else { throw Self.failure("cannot write \(path) to the disk") }
    }

    /// Calls `body` with the bytes of `range`, in order.
    func withPieces(
        of range: Range<Int64>, _ body: (UnsafeRawBufferPointer) throws(FileSystemError) -> Void
    ) throws(FileSystemError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { unsafe buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(min(range.upperBound - offset, 1 << 20))
            let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            try unsafe read(into: piece, at: offset)
            try unsafe body(UnsafeRawBufferPointer(piece))
            offset += Int64(count)
        }
    }

    /// The one place of the core that reads errno.
    private static func failure(_ what: String) -> FileSystemError {
        let code = errno
        switch code {
        case ENOSPC, EDQUOT: return .noSpace
        case EFBIG: return .tooLarge
        default: return unsafe .staging("\(what): \(String(cString: strerror(code)))")
        }
    }
}
