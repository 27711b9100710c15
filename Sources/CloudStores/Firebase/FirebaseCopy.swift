import HTTPTransport
package import ObjectStore

/// Copying and renaming: the protocol has no such request, so the bytes travel through this client.
extension FirebaseStore {
    package func copy(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata {
        throw StorageError(.unsupported, operation: "copy", object: copy.source, message: "not yet")
    }

    package func move(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata {
        throw StorageError(.unsupported, operation: "move", object: copy.source, message: "not yet")
    }
}
