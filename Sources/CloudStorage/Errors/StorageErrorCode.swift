/// The domain of every `StorageError` as an `NSError`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let StorageErrorDomain = "FIRStorageErrorDomain"

/// The numbers of `StorageError`, as `NSError.code` has them (docs/CLOUDSTORAGE.md, errors).
public enum StorageErrorCode: Int, Error, Sendable {
    /// Something that no other code stands for; see the server's answer in `userInfo`.
    case unknown = -13000
    case objectNotFound = -13010
    case bucketNotFound = -13011
    case projectNotFound = -13012
    case quotaExceeded = -13013
    /// Nobody is signed in, or the credential is no longer accepted.
    case unauthenticated = -13020
    /// Whoever is signed in may not do this.
    case unauthorized = -13021
    /// The service did not answer properly until the retry time was over.
    case retryLimitExceeded = -13030
    /// What arrived is not what the bucket has, or the other way around.
    case nonMatchingChecksum = -13031
    case downloadSizeExceeded = -13032
    case cancelled = -13040
    case invalidArgument = -13050
    case bucketMismatch = -13051
    case internalError = -13052
    case pathError = -13053
}
