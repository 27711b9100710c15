import HTTPTransport
import ObjectStore

/// `POST /v0/b/{B}/o?name=N` in two parts (PROTOCOL 1.10).
extension FirebaseStore {
    func insertMultipart(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        var query = Query()
        query.add("name", bytes: upload.name.bytes)
        // Sent again it stores the same bytes again, and only where nothing else came in between.
        var call = Call(Self.insertion, upload.name, .post, routes.objects(query), safety: .repeatable)
        call.headers.append(("X-Goog-Upload-Protocol", "multipart"))
        call.precheck = precheck(upload.precondition, of: upload.name, for: Self.insertion)
        let body = call.setMultipart(upload, insertJSON(upload), clock: caller.clock)
        let outcome = await perform(call, for: upload)
        do {
            let object = try stored(try outcome.result.get(), upload)
            upload.didConfirm(upTo: upload.source.size)
            return object
        } catch {
            switch error.kind {
            case .preconditionFailed where outcome.isAmbiguous || body.attempt().wasRewound: break
            // It was taken, as far as the status goes, and what followed was damaged.
            case .malformedAnswer: break
            default: throw error
            }
            return try await ownSuccess(upload, error)
        }
    }
}
