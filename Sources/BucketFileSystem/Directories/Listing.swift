import Locking
import ObjectStore

/// One run over a folder's list pages, shared by all who need it while it is under way: open directories that stream
/// names as they come, and lookups that wait for the first page. Pages are asked for one after the other, ahead of the
/// readers; the run ends early when nobody is left who wants it.
///
/// Any thread may ask; `store` and the namespace are told of each page before the names are handed out.
final class Listing: Sendable {
    /// Answers hold from here on: the run's first request was sent after this moment.
    let startedAt: Instant
    private let state = Lock(State())

    private struct State {
        var names: [EntryName] = []
        /// A page has come, and it was not the last.
        var hasMore = false
        var end: Result<Void, FileSystemError>?
        var task: Task<Void, Never>?
        var users = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    init(startedAt: Instant) { self.startedAt = startedAt }

    /// Runs `fetchAll` in a task of its own, so that a caller who is interrupted does not end it for the others.
    func run(_ fetchAll: @escaping @Sendable (Listing) async -> Result<Void, FileSystemError>) {
        let task = Task { finish(await fetchAll(self)) }
        state.withLock { $0.task = task }
    }

    /// One more who wants the run to go on.
    func join() { state.withLock { $0.users += 1 } }

    /// One less; without any the run is cancelled.
    func leave() {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.users -= 1
            return state.users == 0 && state.end == nil ? state.task : nil
        }
        task?.cancel()
    }

    var isAbandoned: Bool { state.withLock { $0.users <= 0 } }

    func append(_ names: [EntryName], hasMore: Bool) {
        wake { state in
            state.names += names
            state.hasMore = state.hasMore || hasMore
        }
    }

    private func finish(_ result: Result<Void, FileSystemError>) { wake { $0.end = result } }

    private func wake(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Whether the whole folder came with the first page; waits for that page.
    func firstPageIsAll() async throws(FileSystemError) -> Bool {
        try await wait { $0.hasMore }
        return state.withLock { state in
            if case .success = state.end { return true }
            return false
        }
    }

    /// Waits for the last page.
    func isAllThere() async throws(FileSystemError) -> Bool {
        try await wait { _ in false }
        return true
    }

    /// Names from `index` on that are there by now, at least one; empty at the end.
    func names(from index: Int) async throws(FileSystemError) -> [EntryName] {
        try await wait { $0.names.count > index }
        return state.withLock { Array($0.names.dropFirst(index)) }
    }

    /// Whether `names(from:)` would answer without waiting.
    func hasNames(from index: Int) -> Bool { state.withLock { $0.names.count > index || $0.end != nil } }

    /// Until `condition` holds or the run has ended; a run that failed throws unless `condition` held before.
    private func wait(until condition: @Sendable (borrowing State) -> Bool) async throws(FileSystemError) {
        while true {
            let end = state.withLock { state -> Result<Void, FileSystemError>? in
                condition(state) ? .success(()) : state.end
            }
            if let end { return try end.get() }
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    guard !condition(state), state.end == nil else { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if isDue { continuation.resume() }
            }
        }
    }
}
