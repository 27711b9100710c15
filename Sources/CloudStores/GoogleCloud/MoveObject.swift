import HTTPTransport
package import ObjectStore

/// `POST …/moveTo/o/…`: an atomic rename (PROTOCOL 4.6); where the service lacks it, or the metadata changes, a copy
/// and then the source's deletion.
extension GoogleCloudStore {
    package func move(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata {
        try Routes.check(copy.source, "move")
        try Routes.check(copy.destination, "move")
        // moveTo takes the metadata over as it is.
        guard copy.headers == nil, !movesByCopying else { return try await moveByCopying(copy) }
        let outcome = await caller.perform(moveCall(copy))
        do {
            return try moved(try outcome.result.get(), copy)
        } catch {
            switch error.kind {
            case .notFound, .preconditionFailed:
                if outcome.isAmbiguous, let object = try await ownSuccess(copy) { return object }
                guard error.kind == .notFound, try await exists(copy.source, for: "move") else { throw error }
            case .unsupported, .invalidRequest: break
            case .malformedAnswer:
                guard let object = try await ownSuccess(copy) else { throw error }
                return object
            default: throw error
            }
            // The route is unknown (some servers take it for a malformed update), or the request was bad: then the copy
            // fails too and says why.
            let object = try await moveByCopying(copy)
            movesByCopying = true
            return object
        }
    }

    private func moveCall(_ copy: ObjectCopy) -> Call {
        var query = Query()
        if let generation = copy.sourceGeneration { query.add("ifSourceGenerationMatch", generation.rawValue) }
        query.add(copy.precondition)
        query.addObjectFields()
        query.add("prettyPrint", "false")
        // Once the source is gone a second attempt finds nothing to move.
        let isRepeatable = copy.precondition.object != nil || copy.sourceGeneration != nil
        var call = Call(
            "move", copy.source, .post, routes.move(copy.source, to: copy.destination, query),
            safety: isRepeatable ? .repeatable : .onceOnly)
        call.body = .bytes([])
        return call
    }

    private func moved(_ answer: HTTPAnswer, _ copy: ObjectCopy) throws(StorageError) -> ObjectMetadata {
        let object = try ObjectResource.read(answer, "move", copy.source)
        guard object.name == copy.destination else {
            throw StorageError(
                .malformedAnswer, operation: "move", object: copy.source, httpStatus: answer.status,
                message: "the moved object has another name, \(object.name)")
        }
        return object
    }

    /// After an attempt that may have been acted on: what the destination has, if the move can have put it there.
    private func ownSuccess(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata? {
        guard copy.precondition.object != nil, try await !exists(copy.source, for: "move") else { return nil }
        guard let now = try await metadataIfKnown(of: copy.destination, for: "move"),
            copy.precondition.allowsResult(now.objectGeneration)
        else { return nil }
        return now
    }

    private func moveByCopying(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata {
        var pinned = copy
        if pinned.sourceGeneration == nil {
            pinned.sourceGeneration = try await metadata(of: copy.source, for: "move").objectGeneration
        }
        let object = try await rewrite(pinned, for: "move")
        do {
            try await delete(copy.source, if: Precondition(object: pinned.sourceGeneration.map { .mustBe($0) }))
        } catch let error where error.kind == .notFound {
            // Someone else has removed what was to go.
        }
        return object
    }
}
