import Foundation
import Glibc

/// A file that is open, closed with its owner. Any thread may use it.
final class LocalFile: Sendable {
    /// What changes when a file is written.
    struct Stamp: Equatable, Sendable {
        let size: Int64
        let isRegular: Bool
        fileprivate let seconds: Int
        fileprivate let nanoseconds: Int
    }

    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Opens a file to be read; not through a symbolic link, and without waiting for whoever fills a pipe.
    convenience init(reading path: String) throws(SystemError) {
        self.init(descriptor: try Self.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC))
    }

    /// Makes a file that must not exist yet.
    convenience init(creating path: String) throws(SystemError) {
        self.init(descriptor: try Self.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC))
    }

    private static func open(_ path: String, _ flags: Int32) throws(SystemError) -> Int32 {
        let descriptor = unsafe Glibc.open(path, flags, 0o666)
        guard descriptor >= 0 else { throw SystemError(errno) }
        return descriptor
    }

    func stamp() throws(SystemError) -> Stamp {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError(errno) }
        return Stamp(
            size: Int64(status.st_size), isRegular: status.st_mode & S_IFMT == S_IFREG,
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    /// - Returns: how many bytes; 0 at the end.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        while true {
            let count = unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else { throw SystemError(errno) }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            if count >= 0 {
                done += count
            } else if errno != EINTR {
                throw SystemError(errno)
            }
        }
    }

    func truncate() throws(SystemError) {
        guard ftruncate(descriptor, 0) == 0 else { throw SystemError(errno) }
    }

    /// Returns once the disk has the bytes.
    func synchronize() throws(SystemError) {
        guard fsync(descriptor) == 0 else { throw SystemError(errno) }
    }
}

extension LocalFile {
    /// What comes after is what `destination` is from then on, whatever it was.
    static func rename(_ source: String, to destination: String) throws(SystemError) {
        guard unsafe Glibc.rename(source, destination) == 0 else { throw SystemError(errno) }
    }

    /// A file that is gone already is no failure, and no other is worth telling: nobody waits for it.
    static func remove(_ path: String) { unsafe unlink(path) }
}

/// What the system calls refused.
struct SystemError: Error {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    /// As the public API says it (docs/CLOUDSTORAGE.md, errors).
    var publicError: StorageError {
        let text = unsafe String(cString: strerror(number))
        return .unknown(message: "POSIX errno \(number) (\(text))", serverError: [:])
    }
}

extension URL {
    /// Where on this machine it points; nil: to another one, or nowhere. One without a scheme is a path.
    var localPath: String? {
        guard isFileURL || scheme == nil, !path.isEmpty else { return nil }
        return path
    }
}
