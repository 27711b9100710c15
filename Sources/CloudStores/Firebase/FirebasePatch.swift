import HTTPTransport
package import ObjectStore

/// `PATCH /v0/b/{B}/o/{O}` (PROTOCOL 1.5).
extension FirebaseStore {
    package func patch(
        _ name: ObjectName, _ patch: MetadataPatch, if precondition: Precondition
    ) async throws(StorageError) -> ObjectMetadata {
        try Routes.check(name, "patch")
        // The values are absolute: setting them twice leaves what setting them once does.
        var call = Call("patch", name, .patch, routes.object(name), safety: .repeatable)
        call.setJSON(ObjectResource.json(patch))
        call.precheck = precheck(precondition, of: name, for: "patch")
        let outcome = await perform(call)
        do {
            return try object(try outcome.result.get(), "patch", name)
        } catch let error where outcome.mayHaveSucceeded(despite: error) {
            // An attempt whose answer was lost may have raised the metageneration.
            guard let now = try await metadataIfKnown(of: name, for: "patch"),
                now.metageneration != precondition.metageneration, now.headers.reflects(patch)
            else { throw error }
            return now
        }
    }
}
