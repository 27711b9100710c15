import Locking
import ObjectStore

/// What a test decides about requests before they take effect: counts them, lets them wait, holds them.
final class RequestGate: Sendable {
    private struct State {
        var counts: [StoreOperation: Int] = [:]
        var latency: @Sendable (StoreOperation) -> Duration = { _ in .zero }
        var heldOperations: Set<StoreOperation> = []
        /// In the order they came.
        var waiting: [(ticket: UInt64, operation: StoreOperation, proceed: @Sendable (Bool) -> Void)] = []
        var nextTicket: UInt64 = 0
        var watchers: [(operation: StoreOperation, count: Int, resume: CheckedContinuation<Void, Never>)] = []

        func heldCount(_ operation: StoreOperation) -> Int { waiting.count { $0.operation == operation } }

        mutating func takeSatisfiedWatchers() -> [CheckedContinuation<Void, Never>] {
            let satisfied = watchers.filter { heldCount($0.operation) >= $0.count }
            watchers = watchers.filter { heldCount($0.operation) < $0.count }
            return satisfied.map(\.resume)
        }
    }

    private let state = Lock(State())
    private let queue: TimedQueue

    init(queue: TimedQueue) { self.queue = queue }

    var counts: [StoreOperation: Int] { state.withLock { $0.counts } }

    func resetCounts() { state.withLock { $0.counts = [:] } }

    func setLatency(_ latency: @escaping @Sendable (StoreOperation) -> Duration) {
        state.withLock { $0.latency = latency }
    }

    // MARK: Holding

    func hold(_ operation: StoreOperation) { state.withLock { _ = $0.heldOperations.insert(operation) } }

    func release(_ operation: StoreOperation) {
        let released = state.withLock { state in
            state.heldOperations.remove(operation)
            let released = state.waiting.filter { $0.operation == operation }
            state.waiting.removeAll { $0.operation == operation }
            return released.map(\.proceed)
        }
        for proceed in released { proceed(true) }
    }

    /// False if none is waiting.
    func releaseOne(_ operation: StoreOperation) -> Bool {
        let released = state.withLock { state -> (@Sendable (Bool) -> Void)? in
            guard let index = state.waiting.firstIndex(where: { $0.operation == operation }) else { return nil }
            return state.waiting.remove(at: index).proceed
        }
        released?(true)
        return released != nil
    }

    func heldCount(_ operation: StoreOperation) -> Int { state.withLock { $0.heldCount(operation) } }

    func waitUntilHeld(_ operation: StoreOperation, count: Int) async {
        await withCheckedContinuation { continuation in
            let resumable = state.withLock { state in
                state.watchers.append((operation, count, continuation))
                return state.takeSatisfiedWatchers()
            }
            for watcher in resumable { watcher.resume() }
        }
    }

    // MARK: Passing

    /// Counts a request, and calls `proceed` once: with true when its turn has come (before this returns if nothing
    /// holds it and it has no latency), with false if it was cancelled while it was held.
    /// - Returns: what `cancel` takes.
    @discardableResult
    func admit(_ operation: StoreOperation, _ proceed: @escaping @Sendable (Bool) -> Void) -> UInt64 {
        let queue = queue
        let (ticket, latency, watchers) = state.withLock { state in
            state.counts[operation, default: 0] += 1
            state.nextTicket += 1
            let latency = state.latency(operation)
            guard state.heldOperations.contains(operation) else {
                return (state.nextTicket, Optional(latency), [CheckedContinuation<Void, Never>]())
            }
            let delayed: @Sendable (Bool) -> Void = { isAdmitted in
                guard isAdmitted, latency > .zero else { return proceed(isAdmitted) }
                queue.run(after: latency) { proceed(true) }
            }
            state.waiting.append((state.nextTicket, operation, delayed))
            return (state.nextTicket, nil, state.takeSatisfiedWatchers())
        }
        for watcher in watchers { watcher.resume() }
        if let latency {
            if latency > .zero { queue.run(after: latency) { proceed(true) } } else { proceed(true) }
        }
        return ticket
    }

    func cancel(_ ticket: UInt64) {
        let cancelled = state.withLock { state -> (@Sendable (Bool) -> Void)? in
            guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return state.waiting.remove(at: index).proceed
        }
        cancelled?(false)
    }

    /// `admit` for callers that can suspend; a cancelled task throws `.cancelled`, at the latest when its latency is
    /// over.
    func pass(_ operation: StoreOperation, object: ObjectName?) async throws(StorageError) {
        let box = TicketBox()
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ticket = admit(operation) { continuation.resume(returning: $0) }
                if box.store(ticket) { cancel(ticket) }
            }
        } onCancel: {
            if let ticket = box.cancel() { cancel(ticket) }
        }
        guard isAdmitted, !Task.isCancelled else {
            throw StorageError(.cancelled, operation: operation.rawValue, object: object, message: "cancelled")
        }
    }
}

/// Brings a ticket and a cancellation together, whichever comes first.
private final class TicketBox: Sendable {
    private enum State { case waiting, cancelled, ticket(UInt64) }

    private let state = Lock(State.waiting)

    /// True if the request was cancelled before it had a ticket.
    func store(_ ticket: UInt64) -> Bool {
        state.withLock { state in
            if case .cancelled = state { return true }
            state = .ticket(ticket)
            return false
        }
    }

    func cancel() -> UInt64? {
        state.withLock { state in
            defer { state = .cancelled }
            if case .ticket(let ticket) = state { return ticket }
            return nil
        }
    }
}
