import Locking

/// A question about one name under way, shared by all who wait for its answer. Any thread may wait.
final class MetadataQuestion: Sendable {
    typealias Answer = Result<Instant, FileSystemError>

    private struct State {
        var answer: Answer?
        var waiters: [CheckedContinuation<Answer, Never>] = []
    }

    private let state = Lock(State())

    /// Asks in a task of its own: whoever stops waiting does not end it for the others.
    /// - Parameter question: answers since when the answer holds.
    func ask(_ question: @escaping @Sendable () async -> Answer) {
        Task { finish(await question()) }
    }

    private func finish(_ answer: Answer) {
        let waiters = state.withLock { state in
            state.answer = answer
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: answer) }
    }

    func answer() async throws(FileSystemError) -> Instant {
        let answer = await withCheckedContinuation { continuation in
            let answer = state.withLock { state in
                if state.answer == nil { state.waiters.append(continuation) }
                return state.answer
            }
            if let answer { continuation.resume(returning: answer) }
        }
        return try answer.get()
    }
}
