import BucketFileSystem
import Glibc
import ObjectStore
import Testing

@testable import FUSEBridge

struct ErrnoTests {
    static let ordinary: [(FileSystemError, Int32)] = [
        (.notFound, ENOENT), (.exists, EEXIST), (.notADirectory, ENOTDIR), (.isADirectory, EISDIR),
        (.directoryNotEmpty, ENOTEMPTY), (.stale, ESTALE), (.readOnly, EROFS), (.badHandle, EBADF),
        (.invalidArgument, EINVAL), (.nameTooLong, ENAMETOOLONG), (.tooLarge, EFBIG), (.noSpace, ENOSPC),
        (.notPermitted, EPERM), (.noSuchAttribute, ENODATA), (.unsupported, EOPNOTSUPP),
        (.staging("broken disk"), EIO),
    ]

    static let storage: [(StorageError.Kind, Int32)] = [
        (.notFound, ENOENT), (.forbidden, EACCES), (.unauthenticated, EACCES), (.preconditionFailed, ESTALE),
        (.invalidRequest, EINVAL), (.tooLarge, EFBIG), (.quotaExceeded, EDQUOT), (.rateLimited, EIO),
        (.rangeNotSatisfiable, EIO), (.generationChanged, ESTALE), (.corrupted, EIO), (.malformedAnswer, EIO),
        (.serverFailed, EIO), (.unreachable, EIO), (.timedOut, ETIMEDOUT), (.sourceFailed, EIO),
        (.unsupported, EOPNOTSUPP), (.cancelled, ECANCELED),
    ]

    @Test(arguments: ordinary)
    func fileErrorsHaveTheNumberThatProgramsExpect(_ error: FileSystemError, _ number: Int32) {
        #expect(Errno(error).rawValue == number)
    }

    @Test(arguments: storage)
    func bucketErrorsHaveTheNumberThatProgramsExpect(_ kind: StorageError.Kind, _ number: Int32) {
        let error = StorageError(kind, operation: "insert", message: "as the server said")
        #expect(Errno(FileSystemError.storage(error)).rawValue == number)
    }
}
