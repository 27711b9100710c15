import HTTPTransport
package import ObjectStore

/// `DELETE /b/{B}/o/{O}` (PROTOCOL 4.6).
extension GoogleCloudStore: DeletionDialect {
    package func delete(_ name: ObjectName, if precondition: Precondition) async throws(StorageError) {
        try Routes.check(name, "delete")
        try await deleteSurely(name, if: precondition)
    }

    func sendDelete(_ name: ObjectName, if precondition: Precondition) async -> ServiceCaller.Outcome {
        var query = Query()
        query.add(precondition)
        let call = Call("delete", name, .delete, routes.object(name, query), safety: precondition.safety)
        return await caller.perform(call)
    }
}
