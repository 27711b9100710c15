import Locking
import ObjectStore

/// An open that waits for the head of a request; it hears once, from whoever comes first: the request, or the
/// cancellation of its task.
final class PendingOpen: Sendable {
    private enum State {
        case fresh
        case waiting(CheckedContinuation<Result<Void, StorageError>, Never>)
        case done(Result<Void, StorageError>)
    }

    private let state = Lock(State.fresh)

    func resume(_ result: Result<Void, StorageError>) {
        let waiting = state.withLock { state -> CheckedContinuation<Result<Void, StorageError>, Never>? in
            switch state {
            case .done: return nil
            case .fresh:
                state = .done(result)
                return nil
            case .waiting(let continuation):
                state = .done(result)
                return continuation
            }
        }
        waiting?.resume(returning: result)
    }

    /// Returns once `resume` was called. Call it once.
    func value() async throws(StorageError) {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early = state.withLock { state -> Result<Void, StorageError>? in
                    if case .done(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            resume(.failure(StorageError(.cancelled, operation: "read", message: "cancelled")))
        }
        try result.get()
    }
}
