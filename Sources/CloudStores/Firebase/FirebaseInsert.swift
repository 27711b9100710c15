import HTTPTransport
package import ObjectStore

/// Storing a whole object: in one request when it is small, else in a resumable session (PROTOCOL 1.10, 1.11).
extension FirebaseStore {
    /// How errors call it.
    static let insertion = "insert"

    package func insert(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        try Routes.check(upload.name, Self.insertion)
        guard upload.growth == nil else {
            var dialogue = ResumableUpload(upload, in: self, chunkSize: configuration.chunkSize)
            return try await dialogue.run()
        }
        upload.control?.report { $0.total = upload.source.size }
        if upload.source.size <= configuration.wholeUploadLimit { return try await insertMultipart(upload) }
        var dialogue = ResumableUpload(upload, in: self, chunkSize: configuration.chunkSize)
        return try await dialogue.run()
    }

    /// The metadata both kinds send.
    func insertJSON(_ upload: Upload) -> JSONObject {
        var json = ObjectResource.json(upload.headers)
        json.set("name", bytes: upload.name.bytes)
        return json
    }

    /// Reads the answer to a finished upload and holds it against what was sent.
    func stored(_ answer: HTTPAnswer, _ upload: Upload) throws(StorageError) -> ObjectMetadata {
        let object = try self.object(answer, Self.insertion, upload.name)
        guard let difference = upload.difference(from: object) else { return object }
        throw StorageError(
            .corrupted, operation: Self.insertion, object: upload.name, httpStatus: answer.status,
            message: "the bucket stored something else: \(difference)")
    }

    /// After an upload failed though it may have been stored: what the bucket has, if it is ours.
    /// - Throws: `failure`, unless it is.
    func ownSuccess(_ upload: Upload, _ failure: StorageError) async throws(StorageError) -> ObjectMetadata {
        guard upload.precondition.object != nil,
            let now = try await metadataIfKnown(of: upload.name, for: Self.insertion), upload.canHaveMade(now)
        else { throw failure }
        return now
    }
}
