public import Foundation

/// Storing objects. What is stored appears whole, or not at all.
///
/// Differs: cancelling the calling task cancels the upload of the async forms.
extension StorageReference {
    /// Stores `uploadData`. Without a content type in `metadata` it is `application/octet-stream`.
    @discardableResult
    public func putData(_ uploadData: Data, metadata: StorageMetadata? = nil) -> StorageUploadTask {
        upload(.memory(uploadData), metadata) { _ in }
    }

    @discardableResult
    public func putData(
        _ uploadData: Data, metadata: StorageMetadata? = nil,
        completion: (@Sendable (StorageMetadata?, (any Error)?) -> Void)?
    ) -> StorageUploadTask {
        upload(.memory(uploadData), metadata, completion: split(completion ?? { _, _ in }))
    }

    @discardableResult
    public func putData(
        _ uploadData: Data, metadata: StorageMetadata? = nil,
        completion: @escaping @Sendable (Result<StorageMetadata, any Error>) -> Void
    ) -> StorageUploadTask {
        upload(.memory(uploadData), metadata, completion: completion)
    }

    /// - Parameter onProgress: called on the callback queue.
    public func putDataAsync(
        _ uploadData: Data, metadata: StorageMetadata? = nil, onProgress: (@Sendable (Progress?) -> Void)? = nil
    ) async throws -> StorageMetadata {
        try await uploaded(.memory(uploadData), metadata, onProgress)
    }

    /// Stores the file at `fileURL`, which must be a regular file and stay as it is meanwhile. Without a content type
    /// in `metadata` its extension tells it, else it is `application/octet-stream`.
    ///
    /// Differs: a URL without a scheme is a path, relative to the current directory unless it begins with `/`.
    @discardableResult
    public func putFile(from fileURL: URL, metadata: StorageMetadata? = nil) -> StorageUploadTask {
        upload(.file(fileURL), metadata) { _ in }
    }

    @discardableResult
    public func putFile(
        from fileURL: URL, metadata: StorageMetadata? = nil,
        completion: (@Sendable (StorageMetadata?, (any Error)?) -> Void)?
    ) -> StorageUploadTask {
        upload(.file(fileURL), metadata, completion: split(completion ?? { _, _ in }))
    }

    @discardableResult
    public func putFile(
        from fileURL: URL, metadata: StorageMetadata? = nil,
        completion: @escaping @Sendable (Result<StorageMetadata, any Error>) -> Void
    ) -> StorageUploadTask {
        upload(.file(fileURL), metadata, completion: completion)
    }

    /// - Parameter onProgress: called on the callback queue.
    public func putFileAsync(
        from fileURL: URL, metadata: StorageMetadata? = nil, onProgress: (@Sendable (Progress?) -> Void)? = nil
    ) async throws -> StorageMetadata {
        try await uploaded(.file(fileURL), metadata, onProgress)
    }

    private func upload(
        _ content: StorageUploadTask.Content, _ metadata: StorageMetadata?,
        completion: @escaping @Sendable (Result<StorageMetadata, any Error>) -> Void
    ) -> StorageUploadTask {
        let task = StorageUploadTask(content, to: self, metadata: metadata)
        task.whenEnded { snapshot in completion(snapshot.result { snapshot.metadata }) }
        task.enqueue()
        return task
    }

    private func uploaded(
        _ content: StorageUploadTask.Content, _ metadata: StorageMetadata?,
        _ onProgress: (@Sendable (Progress?) -> Void)?
    ) async throws -> StorageMetadata {
        let task = StorageUploadTask(content, to: self, metadata: metadata)
        return try await task.outcome(onProgress) { $0.metadata }
    }
}
