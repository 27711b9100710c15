import Locking
package import ObjectStore

/// A store whose next reads deliver bytes with one bit turned, and say nothing of it: a connection or a proxy that
/// damages, and a range, which has no checksum of its own.
package final class DamagingStore<Base: ObjectStore>: ObjectStore {
    private let base: Base
    private let state = Lock(State())

    private struct State {
        /// So many reads are still to be damaged.
        var reads = 0
        /// Bytes that are to be damaged once.
        var bytes: Set<Int64> = []

        mutating func takeDamages(of request: ReadRequest) -> Damages {
            let damaged = bytes.filter { $0 >= request.offset && $0 - request.offset < request.count ?? .max }
            bytes.subtract(damaged)
            defer { reads = max(0, reads - 1) }
            return Damages(isInEachPiece: reads > 0, bytes: damaged)
        }
    }

    package init(_ base: Base) { self.base = base }

    /// The next `count` reads are damaged.
    package func damages(_ count: Int) { state.withLock { $0.reads = count } }

    /// The next read of the object's byte at `offset` brings another.
    package func damages(byteAt offset: Int64) { state.withLock { _ = $0.bytes.insert(offset) } }

    package var abilities: StoreAbilities { base.abilities }

    @discardableResult
    package func read(_ request: ReadRequest, into receiver: any ReadReceiver) -> any StoreTransfer {
        let damages = state.withLock { $0.takeDamages(of: request) }
        guard damages.isInEachPiece || !damages.bytes.isEmpty else { return base.read(request, into: receiver) }
        return base.read(request, into: DamagedRead(receiver, damages, offset: request.offset))
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

private struct Damages {
    var isInEachPiece: Bool
    /// Offsets in the object.
    var bytes: Set<Int64>
}

/// Turns bits of what passes.
private final class DamagedRead: ReadReceiver {
    private let receiver: any ReadReceiver
    private let damages: Damages
    /// In the object, of the next byte.
    private let position: Lock<Int64>

    init(_ receiver: any ReadReceiver, _ damages: Damages, offset: Int64) {
        self.receiver = receiver
        self.damages = damages
        position = Lock(offset)
    }

    func received(_ head: ReadHead) { receiver.received(head) }

    func received(_ bytes: UnsafeRawBufferPointer) {
        var damaged = unsafe Array(bytes)
        if damages.isInEachPiece { damaged[damaged.count / 2] ^= 1 }
        let start = position.withLock { position in
            defer { position += Int64(damaged.count) }
            return position
        }
        for byte in damages.bytes where byte >= start && byte - start < damaged.count {
            damaged[Int(byte - start)] ^= 1
        }
        unsafe damaged.withUnsafeBytes { unsafe receiver.received($0) }
    }

    func completed(_ result: Result<Void, StorageError>) { receiver.completed(result) }
}
