import HTTPTransport
package import ObjectStore

/// `DELETE /b/{B}/o/{O}` (PROTOCOL 4.6).
extension GoogleCloudStore {
    package func delete(_ name: ObjectName, if precondition: Precondition) async throws(StorageError) {
        try Routes.check(name, "delete")
        do {
            try await deleteOnce(name, if: precondition)
        } catch let error where error.kind == .notFound || error.kind == .malformedAnswer {
            // A gateway that is not the bucket may have said so: what a caller takes for gone must be gone.
            guard try await exists(name, for: "delete") else {
                if error.kind == .notFound { throw error }
                return
            }
            try await deleteOnce(name, if: precondition)
        }
    }

    private func deleteOnce(_ name: ObjectName, if precondition: Precondition) async throws(StorageError) {
        var query = Query()
        query.add(precondition)
        let call = Call("delete", name, .delete, routes.object(name, query), safety: precondition.safety)
        let outcome = await caller.perform(call)
        do throws(StorageError) {
            let answer = try outcome.result.get()
            guard Self.isNothing(answer.body) else {
                throw StorageError(
                    .malformedAnswer, operation: "delete", object: name, httpStatus: answer.head.status,
                    message: "the answer of a delete has no body, this one has \(answer.body.count) bytes")
            }
        } catch  where error.kind == .notFound && outcome.isAmbiguous {
            // An attempt whose answer was lost has deleted it.
        }
    }

    /// 204 has no body; servers that answer 200 write nothing, or JSON for it. Anything else is no answer of a delete.
    private static func isNothing(_ body: [UInt8]) -> Bool {
        let text = String(decoding: body, as: UTF8.self).filter { !$0.isWhitespace }
        return text.isEmpty || text == "null" || text == "{}"
    }
}
