import HTTPTransport
package import ObjectStore

/// `DELETE /b/{B}/o/{O}` (PROTOCOL 4.6).
extension GoogleCloudStore {
    package func delete(_ name: ObjectName, if precondition: Precondition) async throws(StorageError) {
        try Routes.check(name, "delete")
        var query = Query()
        query.add(precondition)
        let call = Call("delete", name, .delete, routes.object(name, query), safety: precondition.safety)
        let outcome = await caller.perform(call)
        do throws(StorageError) {
            let answer = try outcome.result.get()
            guard answer.body.isEmpty else {
                throw StorageError(
                    .malformedAnswer, operation: "delete", object: name, httpStatus: answer.head.status,
                    message: "the answer of a delete has no body, this one has \(answer.body.count) bytes")
            }
        } catch  where error.kind == .notFound && outcome.isAmbiguous {
            // An attempt whose answer was lost has deleted it.
        }
    }
}
