import HTTPTransport
package import ObjectStore

/// `GET /b/{B}/o/{O}` (PROTOCOL 4.4).
extension GoogleCloudStore {
    package func metadata(of name: ObjectName) async throws(StorageError) -> ObjectMetadata {
        try await metadata(of: name, for: "metadata")
    }

    /// For questions whose answer only helps to judge another call's failure.
    /// - Returns: nil when there is no such object, or nobody could tell.
    /// - Throws: `.cancelled` alone.
    func metadataIfKnown(of name: ObjectName, for operation: String) async throws(StorageError) -> ObjectMetadata? {
        do {
            return try await metadata(of: name, for: operation)
        } catch let error where error.kind != .cancelled {
            return nil
        }
    }

    /// - Parameter operation: on whose behalf, for errors.
    func metadata(of name: ObjectName, for operation: String) async throws(StorageError) -> ObjectMetadata {
        try Routes.check(name, operation)
        var query = Query()
        query.addObjectFields()
        query.add("prettyPrint", "false")
        let call = Call(operation, name, .get, routes.object(name, query), safety: .repeatable)
        let object = try ObjectResource.read(try await caller.answer(to: call), operation, name)
        guard object.name == name else {
            throw StorageError(
                .malformedAnswer, operation: operation, object: name,
                message: "the answer is about another object, \(object.name)")
        }
        return object
    }
}
