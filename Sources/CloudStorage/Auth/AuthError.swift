public import Foundation
import ObjectStore

/// Why nobody could be signed in, or a token not renewed.
public struct AuthError: LocalizedError, Sendable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The service said no: `message` has its reason.
        case refused
        /// The service could not be asked; trying again later may help.
        case unreachable
        case cancelled
    }

    public let kind: Kind
    public let message: String

    public var description: String { message }
    public var errorDescription: String? { message }
}

extension AuthError {
    init(_ error: ObjectStore::StorageError) {
        let kind: Kind =
            switch error.kind {
            case .cancelled: .cancelled
            case .unreachable, .timedOut, .serverFailed, .rateLimited, .malformedAnswer: .unreachable
            case .notFound, .forbidden, .unauthenticated, .preconditionFailed, .invalidRequest, .tooLarge,
                .quotaExceeded, .rangeNotSatisfiable, .generationChanged, .corrupted, .sourceFailed, .unsupported:
                .refused
            }
        self.init(kind: kind, message: error.message)
    }
}
