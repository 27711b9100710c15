import HTTPTransport
package import ObjectStore

/// Storing a whole object: in one request when it is small, else in a resumable session (PROTOCOL 4.5).
extension GoogleCloudStore {
    package func insert(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        try Routes.check(upload.name, "insert")
        guard upload.growth == nil else { return try await insertResumably(upload) }
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

    /// The metadata both kinds send, with the checksum that the server is to check, where it is known already.
    func insertJSON(_ upload: Upload) -> JSONObject {
        var json = ObjectResource.json(upload.headers)
        json.set("name", bytes: upload.name.bytes)
        if upload.growth == nil { json.set("crc32c", upload.source.crc32c.checksumText) }
        return json
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
