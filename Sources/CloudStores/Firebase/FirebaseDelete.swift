package import ObjectStore

/// `DELETE /v0/b/{B}/o/{O}` (PROTOCOL 1.9).
extension FirebaseStore: DeletionDialect {
    package func delete(_ name: ObjectName, if precondition: Precondition) async throws(StorageError) {
        try Routes.check(name, "delete")
        try await deleteSurely(name, if: precondition)
    }

    func sendDelete(_ name: ObjectName, if precondition: Precondition) async -> ServiceCaller.Outcome {
        // Found gone by a second attempt, it is as good as deleted by it.
        var call = Call("delete", name, .delete, routes.object(name), safety: .repeatable)
        call.precheck = precheck(precondition, of: name, for: "delete")
        return await perform(call)
    }
}
