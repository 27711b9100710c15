package import ObjectStore

/// Why a file operation failed, in words of files. Only `FUSEBridge/Errno.swift` turns it into an errno.
package enum FileSystemError: Error, Sendable {
    case notFound
    case exists
    case notADirectory
    case isADirectory
    case directoryNotEmpty
    /// The inode's content was replaced by another client, or the object this handle reads is gone.
    case stale
    case readOnly
    /// The access mode of the handle does not allow it.
    case badHandle
    case invalidArgument
    case nameTooLong
    case tooLarge
    /// The staging disk is full.
    case noSpace
    case notPermitted
    case noSuchAttribute
    /// An extended attribute that the service could not keep at all.
    case attributeTooLarge
    /// No room for it beside the attributes that are there.
    case attributesFull
    case unsupported
    /// The staging disk failed otherwise; the text says how.
    case staging(String)
    /// What the bucket said.
    case storage(StorageError)
}

extension FileSystemError {
    /// Somebody cancelled an upload.
    static let givenUp = FileSystemError.storage(
        StorageError(.cancelled, operation: "insert", message: "it was cancelled"))

    /// What the handle has read may have been damaged on the way.
    static let wasShownDamage = FileSystemError.storage(
        StorageError(
            .corrupted, operation: "read",
            message: "the file was damaged on the way when it was read before; open it again"))

    /// There was no time left for an upload: the next mount has some.
    static func mountEnded(_ name: ObjectName) -> FileSystemError {
        .storage(
            StorageError(
                .unreachable, operation: "insert", object: name, message: "the mount ended before it was stored"))
    }

    /// A read of one generation found another, or none: the handle's object is gone.
    init(reading error: StorageError) {
        switch error.kind {
        case .generationChanged, .notFound, .preconditionFailed: self = .stale
        default: self = FileSystemError(error)
        }
    }

    /// What a failure on the way to the bucket is to the caller of a file operation.
    init(_ error: StorageError) {
        switch error.kind {
        case .preconditionFailed, .generationChanged: self = .stale
        case .sourceFailed: self = .staging(error.message)
        case .notFound, .forbidden, .unauthenticated, .invalidRequest, .tooLarge, .quotaExceeded, .rateLimited,
            .rangeNotSatisfiable, .corrupted, .malformedAnswer, .serverFailed, .unreachable, .timedOut, .unsupported,
            .cancelled:
            self = .storage(error)
        }
    }
}

extension StorageError {
    /// "Not found" where only the whole bucket can be missing.
    var withoutBucket: StorageError {
        guard kind == .notFound else { return self }
        return StorageError(
            .serverFailed, operation: operation, object: object, httpStatus: httpStatus, message: message)
    }
}

extension ObjectStore {
    /// One page of a folder.
    /// - Throws: never `.notFound`: what is below a folder that is not there is an empty list. And whoever reads a
    ///   directory takes "no such entry" for its end.
    func page(_ query: ListQuery) async throws(StorageError) -> ListPage {
        do { return try await list(query) } catch { throw error.withoutBucket }
    }
}

/// Runs a call on the store and puts its failure in words of files.
func fromStore<Value>(
    _ body: () async throws(StorageError) -> Value
) async throws(FileSystemError) -> Value {
    do throws(StorageError) { return try await body() } catch { throw FileSystemError(error) }
}
