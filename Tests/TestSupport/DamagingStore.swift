import Locking
package import ObjectStore

/// A store whose next reads deliver bytes with one bit turned, and say nothing of it: a connection or a proxy that
/// damages, and a range, which has no checksum of its own.
package final class DamagingStore<Base: ObjectStore>: ObjectStore {
    private let base: Base
    private let rest = Lock(0)

    package init(_ base: Base) { self.base = base }

    /// The next `count` reads are damaged.
    package func damages(_ count: Int) { rest.withLock { $0 = count } }

    package var abilities: StoreAbilities { base.abilities }

    @discardableResult
    package func read(_ request: ReadRequest, into receiver: any ReadReceiver) -> any StoreTransfer {
        let isDamaged = rest.withLock { rest in
            defer { rest = max(0, rest - 1) }
            return rest > 0
        }
        return base.read(request, into: isDamaged ? Damage(receiver) : receiver)
    }

    package func list(_ query: ListQuery) async throws(StorageError) -> ListPage { try await base.list(query) }

    package func metadata(of name: ObjectName) async throws(StorageError) -> ObjectMetadata {
        try await base.metadata(of: name)
    }

    package func insert(_ upload: Upload) async throws(StorageError) -> ObjectMetadata { try await base.insert(upload) }

    package func patch(
        _ name: ObjectName, _ patch: MetadataPatch, if precondition: Precondition
    ) async throws(StorageError) -> ObjectMetadata { try await base.patch(name, patch, if: precondition) }

    package func copy(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata { try await base.copy(copy) }

    package func move(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata { try await base.move(copy) }

    package func compose(_ composition: Composition) async throws(StorageError) -> ObjectMetadata {
        try await base.compose(composition)
    }

    package func delete(_ name: ObjectName, if precondition: Precondition) async throws(StorageError) {
        try await base.delete(name, if: precondition)
    }
}

/// Turns a bit in each piece.
private final class Damage: ReadReceiver {
    private let receiver: any ReadReceiver

    init(_ receiver: any ReadReceiver) { self.receiver = receiver }

    func received(_ head: ReadHead) { receiver.received(head) }

    func received(_ bytes: UnsafeRawBufferPointer) {
        var damaged = unsafe Array(bytes)
        damaged[damaged.count / 2] ^= 1
        unsafe damaged.withUnsafeBytes { unsafe receiver.received($0) }
    }

    func completed(_ result: Result<Void, StorageError>) { receiver.completed(result) }
}
