import Locking

/// Tasks that outlive the operation that started them, so that a shutdown can wait for them.
final class Afterwork: Sendable {
    private let state = Lock((running: 0, waiters: [CheckedContinuation<Void, Never>]()))

    func start(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.running += 1 }
        Task {
            await body()
            let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.running -= 1
                guard state.running == 0 else { return [] }
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    /// Until nothing runs.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                guard state.running > 0 else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }
}
