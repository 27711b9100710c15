public import Foundation

/// Why an operation of this module failed. Cast to `NSError`, it has the domain `StorageErrorDomain` and a code of
/// `StorageErrorCode`.
///
/// Differs: values in `serverError` are `Sendable`, because errors travel between threads.
public enum StorageError: Error, Sendable {
    case unknown(message: String, serverError: [String: any Sendable])
    case objectNotFound(object: String, serverError: [String: any Sendable])
    case bucketNotFound(bucket: String)
    case projectNotFound(project: String)
    case quotaExceeded(bucket: String, serverError: [String: any Sendable])
    case unauthenticated(serverError: [String: any Sendable])
    case unauthorized(bucket: String, object: String, serverError: [String: any Sendable])
    /// Differs: this happens. The service could not be reached, failed (5xx) or asked to slow down (429) until the
    /// retry time was over; other platforms answer the last failure as `unknown`.
    case retryLimitExceeded
    /// Differs: this happens. Bytes that arrived, here or in the bucket, have another checksum than those that were
    /// sent.
    case nonMatchingChecksum
    /// Sizes in bytes.
    case downloadSizeExceeded(total: Int64, maxSize: Int64)
    case cancelled
    case invalidArgument(message: String)
    case internalError(message: String)
    case bucketMismatch(message: String)
    case pathError(message: String)

    /// The number that this error has as an `NSError`.
    public var code: StorageErrorCode {
        switch self {
        case .unknown: .unknown
        case .objectNotFound: .objectNotFound
        case .bucketNotFound: .bucketNotFound
        case .projectNotFound: .projectNotFound
        case .quotaExceeded: .quotaExceeded
        case .unauthenticated: .unauthenticated
        case .unauthorized: .unauthorized
        case .retryLimitExceeded: .retryLimitExceeded
        case .nonMatchingChecksum: .nonMatchingChecksum
        case .downloadSizeExceeded: .downloadSizeExceeded
        case .cancelled: .cancelled
        case .invalidArgument: .invalidArgument
        case .internalError: .internalError
        case .bucketMismatch: .bucketMismatch
        case .pathError: .pathError
        }
    }
}

extension StorageError: CustomNSError, LocalizedError, CustomStringConvertible {
    public static var errorDomain: String { StorageErrorDomain }

    public var errorCode: Int { code.rawValue }

    /// What the server answered, where it did: `ResponseErrorDomain`, `ResponseErrorCode`, `ResponseBody`, `bucket`,
    /// `object`.
    public var errorUserInfo: [String: Any] {
        var information: [String: Any] = [NSLocalizedDescriptionKey: description]
        switch self {
        case .unknown(_, let server), .objectNotFound(_, let server), .quotaExceeded(_, let server),
            .unauthenticated(let server), .unauthorized(_, _, let server):
            for (key, value) in server { information[key] = value }
        case .downloadSizeExceeded(let total, let maxSize):
            information["totalSize"] = total
            information["maxAllowedSize"] = maxSize
        case .bucketNotFound, .projectNotFound, .retryLimitExceeded, .nonMatchingChecksum, .cancelled,
            .invalidArgument, .internalError, .bucketMismatch, .pathError:
            break
        }
        return information
    }

    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .unknown(let message, _): message
        case .objectNotFound(let object, _): "Object \(object) does not exist."
        case .bucketNotFound(let bucket): "Bucket \(bucket) does not exist."
        case .projectNotFound(let project): "Project \(project) does not exist."
        case .quotaExceeded(let bucket, _):
            "Quota for bucket \(bucket) exceeded, please view quota on firebase.google.com."
        case .unauthenticated:
            "User is not authenticated, please authenticate using Firebase Authentication and try again."
        case .unauthorized(let bucket, let object, _):
            "User does not have permission to access gs://\(bucket)/\(object)."
        case .retryLimitExceeded: "Max retry time for operation exceeded, please try again."
        case .nonMatchingChecksum: "Uploaded/downloaded object has a different checksum than expected."
        case .downloadSizeExceeded(let total, let maxSize):
            "Attempted to download object with size of \(total) bytes, which exceeds the maximum size of "
                + "\(maxSize) bytes."
        case .cancelled: "User cancelled the upload/download."
        case .invalidArgument(let message), .internalError(let message), .bucketMismatch(let message),
            .pathError(let message):
            message
        }
    }
}
