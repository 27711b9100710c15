import Foundation
import ObjectStore
import Testing

@testable import CloudStorage

/// docs/CLOUDSTORAGE.md, errors.
struct StorageErrorTests {
    private static let path = StoragePath(bucket: "b", object: ObjectName("o"))

    private static func error(
        _ kind: ObjectStore::StorageError.Kind, status: Int?, at path: StoragePath = path
    ) -> CloudStorage::StorageError {
        CloudStorage::StorageError(
            ObjectStore::StorageError(kind, operation: "x", object: path.object, httpStatus: status, message: "words"),
            at: path)
    }

    private static let codes: [(ObjectStore::StorageError.Kind, Int?, StorageErrorCode)] = [
        (.invalidRequest, 400, .unknown),
        (.unauthenticated, 401, .unauthenticated), (.quotaExceeded, 402, .quotaExceeded),
        (.forbidden, 403, .unauthorized), (.notFound, 404, .objectNotFound), (.preconditionFailed, 412, .unknown),
        (.tooLarge, 413, .unknown), (.rangeNotSatisfiable, 416, .unknown), (.rateLimited, 429, .retryLimitExceeded),
        (.serverFailed, 503, .retryLimitExceeded), (.malformedAnswer, 200, .unknown),
        (.corrupted, 200, .nonMatchingChecksum),
        (.unreachable, nil, .retryLimitExceeded), (.timedOut, nil, .retryLimitExceeded),
        (.invalidRequest, nil, .invalidArgument), (.generationChanged, nil, .unknown), (.sourceFailed, nil, .unknown),
        (.unsupported, nil, .internalError), (.cancelled, nil, .cancelled),
    ]

    @Test(arguments: codes)
    func everyFailureHasItsCode(kind: ObjectStore::StorageError.Kind, status: Int?, code: StorageErrorCode) {
        #expect(Self.error(kind, status: status).code == code)
    }

    @Test func theMessagesOfUnknownErrorsNameTheStatus() {
        #expect(Self.error(.invalidRequest, status: 400).localizedDescription == "Unknown 400 error from backend")
        #expect(Self.error(.tooLarge, status: 413).localizedDescription == "Unexpected 413 code from backend")
        #expect(
            Self.error(.malformedAnswer, status: 200).localizedDescription
                == "Invalid data returned from the server: words")
    }

    @Test(arguments: [
        (StorageErrorCode.unknown, -13000), (.objectNotFound, -13010), (.bucketNotFound, -13011),
        (.projectNotFound, -13012), (.quotaExceeded, -13013), (.unauthenticated, -13020), (.unauthorized, -13021),
        (.retryLimitExceeded, -13030), (.nonMatchingChecksum, -13031), (.downloadSizeExceeded, -13032),
        (.cancelled, -13040), (.invalidArgument, -13050), (.bucketMismatch, -13051), (.internalError, -13052),
        (.pathError, -13053),
    ])
    func codesAreTheNumbersOfOtherPlatforms(code: StorageErrorCode, number: Int) {
        #expect(code.rawValue == number)
    }

    @Test func everyCaseHasItsCode() {
        let errors: [(CloudStorage::StorageError, StorageErrorCode)] = [
            (.unknown(message: "", serverError: [:]), .unknown),
            (.objectNotFound(object: "", serverError: [:]), .objectNotFound),
            (.bucketNotFound(bucket: ""), .bucketNotFound), (.projectNotFound(project: ""), .projectNotFound),
            (.quotaExceeded(bucket: "", serverError: [:]), .quotaExceeded),
            (.unauthenticated(serverError: [:]), .unauthenticated),
            (.unauthorized(bucket: "", object: "", serverError: [:]), .unauthorized),
            (.retryLimitExceeded, .retryLimitExceeded),
            (.nonMatchingChecksum, .nonMatchingChecksum),
            (.downloadSizeExceeded(total: 2, maxSize: 1), .downloadSizeExceeded),
            (.cancelled, .cancelled), (.invalidArgument(message: ""), .invalidArgument),
            (.internalError(message: ""), .internalError), (.bucketMismatch(message: ""), .bucketMismatch),
            (.pathError(message: ""), .pathError),
        ]
        for (error, code) in errors {
            #expect(error.code == code)
            #expect(error.errorCode == code.rawValue)
        }
    }

    @Test func anErrorCastsToNSErrorAndBack() throws {
        let error: any Error = Self.error(.forbidden, status: 403)
        let bridged = try #require((error as Any) as? NSError)
        #expect(bridged.domain == "FIRStorageErrorDomain")
        #expect(StorageErrorDomain == bridged.domain)
        #expect(StorageErrorCode(rawValue: bridged.code) == .unauthorized)
        #expect(bridged.userInfo["ResponseErrorDomain"] as? String == "com.google.HTTPStatus")
        #expect(bridged.userInfo["ResponseErrorCode"] as? Int == 403)
        #expect(bridged.userInfo["ResponseBody"] as? String == "words")
        #expect(bridged.userInfo["bucket"] as? String == "b")
        #expect(bridged.userInfo["object"] as? String == "o")
        #expect(bridged.localizedDescription == "User does not have permission to access gs://b/o.")
        guard case .unauthorized("b", "o", _)? = bridged as? CloudStorage::StorageError else {
            Issue.record("it does not cast back")
            return
        }
        #expect((NSError(domain: "other", code: 1) as Any) as? CloudStorage::StorageError == nil)
    }

    @Test func anErrorIsCaughtAsNSError() {
        do {
            throw Self.error(.notFound, status: 404)
        } catch let error as NSError {
            #expect(error.code == StorageErrorCode.objectNotFound.rawValue)
        }
    }

    @Test func aSizeThatIsTooLargeIsTold() {
        let error = CloudStorage::StorageError.downloadSizeExceeded(total: 9, maxSize: 5)
        #expect(error.errorUserInfo["totalSize"] as? Int64 == 9)
        #expect(error.errorUserInfo["maxAllowedSize"] as? Int64 == 5)
    }

    @Test func atTheRootTheObjectHasAPlaceholder() {
        let error = Self.error(.forbidden, status: 403, at: StoragePath(bucket: "b"))
        guard case .unauthorized("b", "<object-entity-internal-error>", _) = error else {
            Issue.record("\(error)")
            return
        }
    }
}
