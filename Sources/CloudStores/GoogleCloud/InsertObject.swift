import HTTPTransport
package import ObjectStore

/// Storing a whole object: in one request when it is small, else in a resumable session (PROTOCOL 4.5).
extension GoogleCloudStore {
    package func insert(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        try Routes.check(upload.name, "insert")
        upload.control?.report { $0.total = upload.source.size }
        return upload.source.size <= configuration.wholeUploadLimit
            ? try await insertMultipart(upload) : try await insertResumably(upload)
    }

    /// The query both kinds of upload share.
    func insertQuery(_ upload: Upload, uploadType: String, _ precondition: Precondition) -> Query {
        var query = Query()
        query.add("uploadType", uploadType)
        query.add("name", bytes: upload.name.bytes)
        query.add(precondition)
        query.addObjectFields()
        query.add("prettyPrint", "false")
        return query
    }

    /// The metadata both kinds send, with the checksum that the server is to check.
    func insertJSON(_ upload: Upload) -> JSONObject {
        var json = ObjectResource.json(upload.headers)
        json.set("name", bytes: upload.name.bytes)
        json.set("crc32c", upload.source.crc32c.checksumText)
        return json
    }

    /// Reads the answer to a finished upload and holds it against what was sent.
    func stored(_ answer: HTTPAnswer, _ upload: Upload) throws(StorageError) -> ObjectMetadata {
        let object = try ObjectResource.read(answer, "insert", upload.name)
        guard let difference = upload.difference(from: object) else { return object }
        throw StorageError(
            .corrupted, operation: "insert", object: upload.name, httpStatus: answer.status,
            message: "the bucket stored something else: \(difference)")
    }

    /// After an upload failed though it may have been stored: what the bucket has, if it is ours.
    /// - Throws: `failure`, unless it is.
    func ownSuccess(_ upload: Upload, _ failure: StorageError) async throws(StorageError) -> ObjectMetadata {
        // Without a precondition nothing tells our success from what was there before.
        guard upload.precondition.object != nil,
            let now = try await metadataIfKnown(of: upload.name, for: "insert"), upload.canHaveMade(now)
        else { throw failure }
        return now
    }
}
