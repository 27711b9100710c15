import CISAL
import Glibc

/// A file on the staging disk that holds a mount's unsaved bytes at their own offsets; sparse where nothing was staged.
/// Owned by one `StagedWrite`; its positioned reads and writes may come from any thread at once. The name goes with the
/// last reference, unless `keep(as:)` saved the bytes under another.
final class StagingFile: Sendable {
    private let descriptor: Int32
    private let path: String

    /// How the names of staging files begin.
    static let namePrefix = "staged-"

    /// - Throws: `.noSpace`, `.staging`.
    init(in directory: String, number: UInt64) throws(FileSystemError) {
        path = "\(directory)/\(Self.namePrefix)\(number)"
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("cannot make \(path)") }
    }

    deinit {
        close(descriptor)
        unsafe unlink(path)
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
        var offset: Int64 = 0
        unsafe try withPieces(upTo: size) { piece throws(FileSystemError) in
            try unsafe other.write(piece, at: offset)
            offset += Int64(piece.count)
        }
    }

    /// CRC32C of the first `size` bytes.
    func checksum(size: Int64) throws(FileSystemError) -> UInt32 {
        var crc: UInt32 = 0
        unsafe try withPieces(upTo: size) { piece throws(FileSystemError) in
            unsafe crc = firemount_crc32c(crc, piece.baseAddress, piece.count)
        }
        return crc
    }

    /// Gives the bytes a second name, so that they outlive this object.
    func keep(as name: String) throws(FileSystemError) {
        guard unsafe link(path, name) == 0 || errno == EEXIST else {
            throw Self.failure("cannot keep \(path) as \(name)")
        }
    }

    private func withPieces(
        upTo size: Int64, _ body: (UnsafeRawBufferPointer) throws(FileSystemError) -> Void
    ) throws(FileSystemError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { unsafe buffer.deallocate() }
        var offset: Int64 = 0
        while offset < size {
            let count = Int(min(size - offset, 1 << 20))
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
