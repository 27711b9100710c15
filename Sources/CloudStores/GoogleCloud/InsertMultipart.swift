import HTTPTransport
import ObjectStore

/// `POST /upload/…/o?uploadType=multipart`: metadata and bytes in one request (PROTOCOL 4.5, 1.10).
extension GoogleCloudStore {
    func insertMultipart(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        let query = insertQuery(upload, uploadType: "multipart", upload.precondition)
        var call = Call(
            "insert", upload.name, .post, routes.uploads(query), safety: upload.precondition.safety)
        let body = call.setMultipart(upload, insertJSON(upload), clock: caller.clock)
        let outcome = await caller.perform(call, for: upload)
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
