import ObjectStore

/// What is known of an object, and its end.
///
/// Differs: at a bucket's root these calls fail with `invalidArgument` and ask nothing of the service. Cancelling the
/// calling task ends the async forms with `cancelled`.
extension StorageReference {
    public func getMetadata() async throws -> StorageMetadata { try await metadata() }

    public func getMetadata(completion: @escaping @Sendable (Result<StorageMetadata, any Error>) -> Void) {
        complete(completion) { () async throws(StorageError) in try await self.metadata() }
    }

    public func getMetadata(completion: @escaping @Sendable (StorageMetadata?, (any Error)?) -> Void) {
        getMetadata(completion: split(completion))
    }

    /// Changes what `metadata` has different from what the service said when it was asked; the answer is what the
    /// object has then. Metadata that a program has made changes what is set in it.
    public func updateMetadata(_ metadata: StorageMetadata) async throws -> StorageMetadata {
        try await update(metadata.patch)
    }

    public func updateMetadata(
        _ metadata: StorageMetadata, completion: @escaping @Sendable (Result<StorageMetadata, any Error>) -> Void
    ) {
        let patch = metadata.patch
        complete(completion) { () async throws(StorageError) in try await self.update(patch) }
    }

    public func updateMetadata(
        _ metadata: StorageMetadata, completion: (@Sendable (StorageMetadata?, (any Error)?) -> Void)?
    ) {
        updateMetadata(metadata, completion: split(completion ?? { _, _ in }))
    }

    public func delete() async throws { try await deleteObject() }

    public func delete(completion: (@Sendable ((any Error)?) -> Void)?) {
        complete(split { (_: Bool?, error) in completion?(error) }) { () async throws(StorageError) in
            try await self.deleteObject()
            return true
        }
    }

    private func metadata() async throws(StorageError) -> StorageMetadata {
        try requireObject(for: "getMetadata")
        return StorageMetadata(try await object(), bucket: bucket)
    }

    func object() async throws(StorageError) -> ObjectMetadata {
        try await perform { (store) async throws(ObjectStore::StorageError) in
            try await store.metadata(of: self.location.object)
        }
    }

    private func update(_ patch: MetadataPatch) async throws(StorageError) -> StorageMetadata {
        try requireObject(for: "updateMetadata")
        let object = try await perform { (store) async throws(ObjectStore::StorageError) in
            try await store.patch(self.location.object, patch, if: .none)
        }
        return StorageMetadata(object, bucket: bucket)
    }

    private func deleteObject() async throws(StorageError) {
        try requireObject(for: "delete")
        try await perform { (store) async throws(ObjectStore::StorageError) in
            try await store.delete(self.location.object, if: .none)
        }
    }
}
