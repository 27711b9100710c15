package import ObjectStore

/// `DELETE /v0/b/{B}/o/{O}` (PROTOCOL 1.9).
extension FirebaseStore {
    package func delete(_ name: ObjectName, if precondition: Precondition) async throws(StorageError) {
        try Routes.check(name, "delete")
        // Found gone by a second attempt, it is as good as deleted by it.
        var call = Call("delete", name, .delete, routes.object(name), safety: .repeatable)
        call.precheck = precheck(precondition, of: name, for: "delete")
        let outcome = await perform(call)
        do throws(StorageError) {
            _ = try outcome.result.get()
        } catch  where error.kind == .notFound && outcome.isAmbiguous {
            // An attempt whose answer was lost has deleted it.
        }
    }
}
