import HTTPTransport
package import ObjectStore

/// `PATCH /b/{B}/o/{O}` (PROTOCOL 4.6).
extension GoogleCloudStore {
    package func patch(
        _ name: ObjectName, _ patch: MetadataPatch, if precondition: Precondition
    ) async throws(StorageError) -> ObjectMetadata {
        try Routes.check(name, "patch")
        var query = Query()
        query.add(precondition)
        query.add("projection", "noAcl")
        query.addObjectFields()
        query.add("prettyPrint", "false")
        // The values are absolute: setting them twice leaves what setting them once does, so this may be repeated even
        // without `ifMetagenerationMatch`.
        var call = Call("patch", name, .patch, routes.object(name, query), safety: .repeatable)
        call.setJSON(ObjectResource.json(patch))
        let outcome = await caller.perform(call)
        do {
            return try ObjectResource.read(try outcome.result.get(), "patch", name)
        } catch let error where outcome.mayHaveSucceeded(despite: error) {
            // An attempt whose answer was lost may have raised the metageneration.
            guard let now = try await metadataIfKnown(of: name, for: "patch"),
                now.metageneration != precondition.metageneration, now.headers.reflects(patch)
            else { throw error }
            return now
        }
    }
}

extension ObjectHeaders {
    /// Whether every change of `patch` shows here.
    func reflects(_ patch: MetadataPatch) -> Bool {
        func shows(_ value: String?, _ change: MetadataPatch.Change?) -> Bool {
            switch change {
            case .set(let wanted): value == wanted
            case .remove: value == nil
            case nil: true
            }
        }
        return shows(contentType, patch.contentType) && shows(contentEncoding, patch.contentEncoding)
            && shows(contentDisposition, patch.contentDisposition) && shows(contentLanguage, patch.contentLanguage)
            && shows(cacheControl, patch.cacheControl) && patch.custom.allSatisfy { shows(custom[$0.key], $0.value) }
    }

    /// Whether everything `wanted` sets shows here; servers may add to it.
    func include(_ wanted: ObjectHeaders) -> Bool {
        func shows(_ value: String?, _ wanted: String?) -> Bool { wanted == nil || value == wanted }
        return shows(contentType, wanted.contentType) && shows(contentEncoding, wanted.contentEncoding)
            && shows(contentDisposition, wanted.contentDisposition)
            && shows(contentLanguage, wanted.contentLanguage) && shows(cacheControl, wanted.cacheControl)
            && wanted.custom.allSatisfy { custom[$0.key] == $0.value }
    }
}
