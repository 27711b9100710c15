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
        do {
            _ = try outcome.result.get()
        } catch let error where error.kind == .notFound && outcome.isAmbiguous {
            // An attempt whose answer was lost has deleted it.
        }
    }
}
