import BucketFileSystem
import Glibc
import ObjectStore

/// What the kernel is told about a failure. This file is the only place that chooses an error number.
struct Errno: Error, Equatable, Sendable, CustomStringConvertible {
    let rawValue: Int32

    private init(_ rawValue: Int32) { self.rawValue = rawValue }

    // MARK: For the kernel

    /// The caller is being killed; what it asked for may go on without it.
    static let callerIsGone = Errno(EINTR)
    /// The caller's buffer cannot hold the value (`getxattr`, `listxattr`).
    static let bufferTooSmall = Errno(ERANGE)
    /// A request was dropped without an answer: a mistake of ours, and the caller must not hang for it.
    static let unanswered = Errno(EIO)

    init(_ error: FileSystemError) {
        switch error {
        case .notFound: self.init(ENOENT)
        case .exists: self.init(EEXIST)
        case .notADirectory: self.init(ENOTDIR)
        case .isADirectory: self.init(EISDIR)
        case .directoryNotEmpty: self.init(ENOTEMPTY)
        case .stale: self.init(ESTALE)
        case .readOnly: self.init(EROFS)
        case .badHandle: self.init(EBADF)
        case .invalidArgument: self.init(EINVAL)
        case .nameTooLong: self.init(ENAMETOOLONG)
        case .tooLarge: self.init(EFBIG)
        case .noSpace: self.init(ENOSPC)
        case .notPermitted: self.init(EPERM)
        case .noSuchAttribute: self.init(ENODATA)
        case .attributeTooLarge: self.init(E2BIG)
        case .attributesFull: self.init(ENOSPC)
        case .unsupported: self.init(EOPNOTSUPP)
        case .staging: self.init(EIO)
        case .storage(let failure): self.init(failure.kind)
        }
    }

    private init(_ kind: StorageError.Kind) {
        switch kind {
        case .notFound: self.init(ENOENT)
        case .forbidden, .unauthenticated: self.init(EACCES)
        case .preconditionFailed, .generationChanged: self.init(ESTALE)
        case .invalidRequest: self.init(EINVAL)
        case .tooLarge: self.init(EFBIG)
        case .quotaExceeded: self.init(EDQUOT)
        case .timedOut: self.init(ETIMEDOUT)
        case .unsupported: self.init(EOPNOTSUPP)
        // Somebody gave the transfer up; a caller that was killed is answered by `callerIsGone`.
        case .cancelled: self.init(ECANCELED)
        // EAGAIN would tell programs to spin on a file that never becomes ready.
        case .rateLimited, .serverFailed, .unreachable: self.init(EIO)
        case .corrupted, .malformedAnswer, .rangeNotSatisfiable, .sourceFailed: self.init(EIO)
        }
    }

    // MARK: From the system

    /// Why the last system call of this thread failed.
    static var last: Errno { Errno(errno) }

    /// From a function of libfuse that answers a failure as a negative number.
    init(negated number: Int32) { self.init(-number) }

    var negated: Int32 { -rawValue }

    static let noEntry = Errno(ENOENT)
    static let callInterrupted = Errno(EINTR)
    static let outOfMemory = Errno(ENOMEM)

    var meansForbidden: Bool { rawValue == EACCES || rawValue == EPERM }

    /// The mount is there and nobody serves it: the connection ended, was severed, or never came up (fs/fuse).
    var meansDeadConnection: Bool { [ENOTCONN, ECONNABORTED, ECONNREFUSED].contains(rawValue) }

    /// The system's words.
    var description: String { unsafe String(cString: strerror(rawValue)) }
}
