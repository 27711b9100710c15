import HTTPTransport
package import ObjectStore

/// `POST /b/{B}/o/{DO}/compose` (PROTOCOL 4.6).
extension GoogleCloudStore {
    package func compose(_ composition: Composition) async throws(StorageError) -> ObjectMetadata {
        for source in composition.sources { try Routes.check(source.name, "compose") }
        try Routes.check(composition.destination, "compose")
        var query = Query()
        query.add(composition.precondition)
        query.addObjectFields()
        query.add("prettyPrint", "false")
        var call = Call(
            "compose", composition.destination, .post, routes.compose(composition.destination, query),
            safety: composition.precondition.safety)
        call.setJSON(Self.json(composition))
        let outcome = await caller.perform(call)
        do {
            return try ObjectResource.read(try outcome.result.get(), "compose", composition.destination)
        } catch let error where outcome.mayHaveSucceeded(despite: error) {
            return try await ownSuccess(composition, error)
        }
    }

    private static func json(_ composition: Composition) -> JSONObject {
        let sources = composition.sources.map { source in
            var json = JSONObject()
            json.set("name", bytes: source.name.bytes)
            if let generation = source.objectGeneration {
                // Not `generation`: that would take an older version that a versioned bucket still has.
                var conditions = JSONObject()
                conditions.set("ifGenerationMatch", number: generation.rawValue)
                json.set("objectPreconditions", conditions)
            }
            return json
        }
        var json = JSONObject()
        json.set("sourceObjects", sources)
        json.set("destination", ObjectResource.json(composition.headers))
        return json
    }

    /// After a failure that an attempt may have been acted on for all that: the destination, if its custom metadata
    /// (with a time to the nanosecond, as a rule) shows that it is ours. Its bytes cannot be told.
    private func ownSuccess(
        _ composition: Composition, _ failure: StorageError
    ) async throws(StorageError) -> ObjectMetadata {
        guard let now = try await metadataIfKnown(of: composition.destination, for: "compose"),
            composition.precondition.allowsResult(now.objectGeneration), now.md5 == nil,
            !composition.headers.custom.isEmpty, now.headers.include(composition.headers)
        else { throw failure }
        return now
    }
}
