import Locking
package import ObjectStore

/// Receives one read whole.
package final class CollectedRead: ReadReceiver {
    package struct Outcome: Sendable {
        package var head: ReadHead?
        package var bytes: [UInt8] = []
        /// In how many calls the bytes came.
        package var pieces = 0
        package var error: StorageError?
    }

    private struct State {
        var outcome = Outcome()
        var isComplete = false
        var waiter: CheckedContinuation<Outcome, Never>?
    }

    private let state = Lock(State())

    package init() {}

    /// Returns once the read has completed. Call it once.
    package func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let finished = state.withLock { state -> Outcome? in
                guard state.isComplete else {
                    state.waiter = continuation
                    return nil
                }
                return state.outcome
            }
            if let finished { continuation.resume(returning: finished) }
        }
    }

    package func received(_ head: ReadHead) { state.withLock { $0.outcome.head = head } }

    package func received(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            state.outcome.bytes += unsafe Array(bytes)
            state.outcome.pieces += 1
        }
    }

    package func completed(_ result: Result<Void, StorageError>) {
        let (waiter, outcome) = state.withLock { state in
            precondition(!state.isComplete, "a read completed twice")
            if case .failure(let error) = result { state.outcome.error = error }
            state.isComplete = true
            return (state.waiter, state.outcome)
        }
        waiter?.resume(returning: outcome)
    }
}
