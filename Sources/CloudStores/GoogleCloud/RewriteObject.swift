import HTTPTransport
package import ObjectStore

/// `POST …/rewriteTo/…`, as often as it takes (PROTOCOL 4.6).
extension GoogleCloudStore {
    package func copy(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata {
        try await rewrite(copy, for: "copy")
    }

    func rewrite(_ copy: ObjectCopy, for operation: String) async throws(StorageError) -> ObjectMetadata {
        try Routes.check(copy.source, operation)
        try Routes.check(copy.destination, operation)
        var token: String?
        var written: Int64 = -1
        while true {
            let outcome = await caller.perform(rewriteCall(copy, operation, token))
            let step: RewriteStep
            do {
                step = try Self.step(try outcome.result.get(), copy, operation)
            } catch let error where outcome.mayHaveSucceeded(despite: error) {
                return try await ownSuccess(copy, operation, error)
            }
            if let object = step.object { return object }
            guard let total = step.written, total > written, let next = step.token else {
                throw StorageError(
                    .serverFailed, operation: operation, object: copy.source, message: "the copy makes no progress")
            }
            written = total
            token = next
        }
    }

    private func rewriteCall(_ copy: ObjectCopy, _ operation: String, _ token: String?) -> Call {
        var query = Query()
        if let generation = copy.sourceGeneration { query.add("ifSourceGenerationMatch", generation.rawValue) }
        query.add(copy.precondition)
        if let token { query.add("rewriteToken", token) }
        query.add("fields", "done,rewriteToken,totalBytesRewritten,resource(\(ObjectResource.fields))")
        query.add("prettyPrint", "false")
        let url = routes.rewrite(copy.source, to: copy.destination, bucket: bucket, query)
        var call = Call(operation, copy.source, .post, url, safety: copy.precondition.safety)
        if let headers = copy.headers {
            var json = ObjectResource.json(headers)
            // A body without any field would mean: keep the source's metadata.
            if json.isEmpty { json.set("metadata", JSONObject()) }
            call.setJSON(json)
        } else {
            call.body = .bytes([])
        }
        return call
    }

    private struct RewriteStep {
        var object: ObjectMetadata?
        var token: String?
        var written: Int64?
    }

    private static func step(
        _ answer: HTTPAnswer, _ copy: ObjectCopy, _ operation: String
    ) throws(StorageError) -> RewriteStep {
        do throws(AnswerDocument.Malformed) {
            let document = try AnswerDocument(answer.body, .rewrite)
            guard document.isDone else {
                return RewriteStep(token: document.rewriteToken, written: document.totalBytesRewritten)
            }
            let object = try document.object()
            guard object.name == copy.destination else {
                throw AnswerDocument.Malformed(problem: "the copy has another name, \(object.name)")
            }
            return RewriteStep(object: object)
        } catch {
            throw ObjectResource.malformed(error, answer, operation, copy.source)
        }
    }

    /// After a failure that an attempt may have been acted on for all that: the destination, if it is our copy.
    private func ownSuccess(
        _ copy: ObjectCopy, _ operation: String, _ failure: StorageError
    ) async throws(StorageError) -> ObjectMetadata {
        guard let source = try await metadataIfKnown(of: copy.source, for: operation),
            let now = try await metadataIfKnown(of: copy.destination, for: operation),
            copy.precondition.allowsResult(now.objectGeneration), now.size == source.size, let crc32c = now.crc32c,
            crc32c == source.crc32c, now.headers.include(copy.headers ?? source.headers),
            copy.sourceGeneration == nil || copy.sourceGeneration == source.objectGeneration
        else { throw failure }
        return now
    }
}
