import Locking

/// Lets one task at a time through, in the order they came; the others suspend. One per file: storing, renaming,
/// removing and patching an object follow each other, and what follows sees what the one before has made of it.
final class AsyncGate: Sendable {
    private let state = Lock(State())

    private struct State {
        var isTaken = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Somebody is inside.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken {
                    state.waiters.append(continuation)
                    return false
                }
                state.isTaken = true
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }

    /// Runs `body` alone.
    func pass<Result: Sendable>(
        _ body: () async throws(FileSystemError) -> Result
    ) async throws(FileSystemError) -> Result {
        await enter()
        defer { leave() }
        return try await body()
    }
}
