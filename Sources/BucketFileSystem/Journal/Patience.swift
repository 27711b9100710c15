import Locking

/// Waiting between attempts, until somebody says that it is enough.
final class Patience: Sendable {
    private let state = Lock((isOver: false, sleeper: Task<Void, Never>?.none))
    private let first: Duration
    private let longest: Duration

    init(first: Duration = .seconds(1), longest: Duration = .seconds(60)) {
        self.first = first
        self.longest = longest
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Ends a wait under way, and every later one at once.
    func end() {
        let sleeper = state.withLock { state in
            state.isOver = true
            return state.sleeper
        }
        sleeper?.cancel()
    }

    /// Waits before attempt `number` (the second is 1): ever longer. False: it is enough.
    func wait(before number: Int) async -> Bool {
        let time = min(longest, first * Double(1 << min(number - 1, 16)))
        let sleeper = state.withLock { state -> Task<Void, Never>? in
            guard !state.isOver else { return nil }
            let sleeper = Task { _ = try? await Task.sleep(for: time) }
            state.sleeper = sleeper
            return sleeper
        }
        await sleeper?.value
        return !isOver
    }
}
