import ObjectStore

/// What a store's error is in the public API's terms: the only place that decides it (docs/CLOUDSTORAGE.md, errors).
extension StorageError {
    /// What errors say instead of a name at a bucket's root.
    static let rootObject = "<object-entity-internal-error>"

    init(_ error: ObjectStore::StorageError, at path: StoragePath) {
        let object = path.isRoot ? Self.rootObject : path.object.description
        let server = Self.serverError(error, bucket: path.bucket, object: object)
        switch error.kind {
        case .notFound: self = .objectNotFound(object: object, serverError: server)
        case .forbidden: self = .unauthorized(bucket: path.bucket, object: object, serverError: server)
        case .unauthenticated: self = .unauthenticated(serverError: server)
        case .quotaExceeded: self = .quotaExceeded(bucket: path.bucket, serverError: server)
        case .invalidRequest where error.httpStatus == nil: self = .invalidArgument(message: error.message)
        case .invalidRequest, .preconditionFailed, .tooLarge, .rangeNotSatisfiable:
            self = .unknown(message: Self.text(of: error.httpStatus, error.message), serverError: server)
        case .rateLimited, .serverFailed, .unreachable, .timedOut: self = .retryLimitExceeded
        case .corrupted: self = .nonMatchingChecksum
        case .malformedAnswer:
            self = .unknown(
                message: "Invalid data returned from the server: \(error.message)", serverError: server)
        case .generationChanged, .sourceFailed: self = .unknown(message: error.message, serverError: server)
        case .unsupported: self = .internalError(message: error.message)
        case .cancelled: self = .cancelled
        }
    }

    private static func text(of status: Int?, _ message: String) -> String {
        switch status {
        case 400: "Unknown 400 error from backend"
        case let status?: "Unexpected \(status) code from backend"
        case nil: message
        }
    }

    private static func serverError(
        _ error: ObjectStore::StorageError, bucket: String, object: String
    ) -> [String: any Sendable] {
        var server: [String: any Sendable] = ["bucket": bucket, "object": object, "ResponseBody": error.message]
        if let status = error.httpStatus {
            server["ResponseErrorDomain"] = "com.google.HTTPStatus"
            server["ResponseErrorCode"] = status
        }
        return server
    }
}
