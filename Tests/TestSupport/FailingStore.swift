import Locking
package import ObjectStore

/// A store that fails on cue: the nth call of an operation ends with a given error, before or after its effect at
/// `base`.
package final class FailingStore<Base: ObjectStore>: ObjectStore {
    /// When a call fails.
    package enum Moment: Sendable {
        /// Nothing reached the bucket.
        case beforeEffect
        /// The bucket did it, but the answer was lost. For a read: after all bytes, instead of success.
        case afterEffect
        /// A read breaks off after so many bytes.
        case afterBytes(Int)
    }

    package let base: Base
    private let state = Lock(State())

    private struct State {
        struct Cue {
            var operation: StoreOperation
            /// nil: every call.
            var call: Int?
            var moment: Moment
            var kind: StorageError.Kind
        }

        var script: [Cue] = []
        var counts: [StoreOperation: Int] = [:]
    }

    package init(_ base: Base) { self.base = base }

    package var abilities: StoreAbilities { base.abilities }

    /// Calls that came, by operation, failed ones included.
    package var counts: [StoreOperation: Int] { state.withLock { $0.counts } }

    /// Adds a cue.
    /// - Parameters:
    ///   - call: counts from now: 1 is the next call of that operation. nil: every call.
    package func fail(
        _ operation: StoreOperation, call: Int? = 1, _ moment: Moment = .beforeEffect, with kind: StorageError.Kind
    ) {
        state.withLock { state in
            let absolute = call.map { $0 + state.counts[operation, default: 0] }
            state.script.append(State.Cue(operation: operation, call: absolute, moment: moment, kind: kind))
        }
    }

    /// Forgets all cues.
    package func stopFailing() { state.withLock { $0.script = [] } }

    // MARK: ObjectStore

    package func list(_ query: ListQuery) async throws(StorageError) -> ListPage {
        try await perform(.list, on: query.prefix) { () async throws(StorageError) in try await self.base.list(query) }
    }

    package func metadata(of name: ObjectName) async throws(StorageError) -> ObjectMetadata {
        try await perform(.metadata, on: name) { () async throws(StorageError) in try await self.base.metadata(of: name)
        }
    }

    @discardableResult
    package func read(_ request: ReadRequest, into receiver: any ReadReceiver) -> any StoreTransfer {
        guard let cue = next(.read, on: request.name) else { return base.read(request, into: receiver) }
        let limit: Int? =
            switch cue.moment {
            case .beforeEffect: 0
            case .afterEffect: nil
            case .afterBytes(let count): count
            }
        var shortened = request
        if case .beforeEffect = cue.moment { shortened.count = 1 }
        return base.read(shortened, into: FailingReceiver(receiver, limit: limit, error: cue.error))
    }

    package func insert(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        try await perform(.insert, on: upload.name) { () async throws(StorageError) in
            try await self.base.insert(upload)
        }
    }

    package func patch(
        _ name: ObjectName, _ patch: MetadataPatch, if precondition: Precondition
    ) async throws(StorageError) -> ObjectMetadata {
        try await perform(.patch, on: name) { () async throws(StorageError) in
            try await self.base.patch(name, patch, if: precondition)
        }
    }

    package func copy(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata {
        try await perform(.copy, on: copy.source) { () async throws(StorageError) in try await self.base.copy(copy) }
    }

    package func move(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata {
        try await perform(.move, on: copy.source) { () async throws(StorageError) in try await self.base.move(copy) }
    }

    package func compose(_ composition: Composition) async throws(StorageError) -> ObjectMetadata {
        try await perform(.compose, on: composition.destination) { () async throws(StorageError) in
            try await self.base.compose(composition)
        }
    }

    package func delete(_ name: ObjectName, if precondition: Precondition) async throws(StorageError) {
        try await perform(.delete, on: name) { () async throws(StorageError) in
            try await self.base.delete(name, if: precondition)
        }
    }

    private func perform<Result>(
        _ operation: StoreOperation, on name: ObjectName, _ call: () async throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        guard let cue = next(operation, on: name) else { return try await call() }
        if case .afterEffect = cue.moment { _ = try await call() }
        throw cue.error
    }

    private func next(_ operation: StoreOperation, on name: ObjectName) -> (moment: Moment, error: StorageError)? {
        state.withLock { state in
            state.counts[operation, default: 0] += 1
            let call = state.counts[operation]
            guard
                let cue = state.script.first(where: { $0.operation == operation && ($0.call == nil || $0.call == call) }
                )
            else { return nil }
            let error = StorageError(
                cue.kind, operation: operation.rawValue, object: name, message: "failed on cue, call \(call ?? 0)")
            return (cue.moment, error)
        }
    }
}

/// Passes a read on up to `limit` bytes and ends it with `error`. With a limit of 0 the error is the only call.
private final class FailingReceiver: ReadReceiver {
    private let receiver: any ReadReceiver
    private let error: StorageError
    private let limit: Int?
    private let passed = Lock(0)

    init(_ receiver: any ReadReceiver, limit: Int?, error: StorageError) {
        self.receiver = receiver
        self.limit = limit
        self.error = error
    }

    func received(_ head: ReadHead) {
        if limit != 0 { receiver.received(head) }
    }

    func received(_ bytes: UnsafeRawBufferPointer) {
        let count = passed.withLock { passed in
            let count = min(bytes.count, (limit ?? Int.max) - passed)
            passed += count
            return count
        }
        if count > 0 { unsafe receiver.received(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
    }

    func completed(_ result: Result<Void, StorageError>) { receiver.completed(.failure(error)) }
}
