import HTTPTransport
import ObjectStore

/// `POST /upload/…/o?uploadType=multipart`: metadata and bytes in one request (PROTOCOL 4.5, 1.10).
extension GoogleCloudStore {
    func insertMultipart(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        var attempt = upload
        var difference: String?
        for _ in 0..<Self.damageLimit {
            let object = try await insertOnce(attempt)
            difference = upload.difference(from: object)
            guard let difference else {
                upload.didConfirm(upTo: object.size)
                return object
            }
            caller.log(.warning, "insert \(upload.name): the server stored something else: \(difference)")
            guard object.name == upload.name else { break }
            // What is under the name now is of no use to anyone: that, and nothing else, may be replaced.
            attempt.precondition.mayReplace(object.objectGeneration)
        }
        if upload.precondition.object == .mustNotExist, attempt.precondition != upload.precondition {
            try? await delete(upload.name, if: attempt.precondition)
        }
        throw StorageError(
            .corrupted, operation: "insert", object: upload.name,
            message: "the bucket stored something else: \(difference ?? "")")
    }

    /// How often an upload is sent that arrives damaged.
    private static let damageLimit = 3

    private func insertOnce(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        let query = insertQuery(upload, uploadType: "multipart", upload.precondition)
        var call = Call(
            "insert", upload.name, .post, routes.uploads(query), safety: upload.precondition.safety)
        let body = call.setMultipart(upload, insertJSON(upload), clock: caller.clock)
        let outcome = await caller.perform(call, for: upload)
        do {
            return try ObjectResource.read(try outcome.result.get(), "insert", upload.name)
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
