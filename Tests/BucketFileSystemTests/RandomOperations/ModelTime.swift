import Locking
import ObjectStore

@testable import BucketFileSystem

/// Time of one mount, which passes when the test says so: who sleeps wakes only then.
final class ModelTime: Sendable {
    private struct State {
        var nanoseconds: UInt64
        var sleepers: [CheckedContinuation<Void, Never>] = []
        var isAwake = false
    }

    private let state: Lock<State>

    init(nanoseconds: UInt64 = 1_000_000_000_000) { state = Lock(State(nanoseconds: nanoseconds)) }

    /// For the next mount.
    convenience init(after earlier: ModelTime) { self.init(nanoseconds: earlier.tick()) }

    var clock: Clock {
        Clock(
            now: { [self] in Instant(nanoseconds: tick()) },
            today: { [self] in Timestamp(seconds: 1_700_000_000 + Int64(tick() / 1_000_000_000)) },
            sleep: { [self] _ in await sleep() })
    }

    /// Each look is a little later than the one before.
    private func tick() -> UInt64 {
        state.withLock { state in
            state.nanoseconds += 1_000
            return state.nanoseconds
        }
    }

    private func sleep() async {
        await withCheckedContinuation { sleeper in
            let isAwake = state.withLock { state in
                if !state.isAwake { state.sleepers.append(sleeper) }
                return state.isAwake
            }
            if isAwake { sleeper.resume() }
        }
    }

    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    func pass(seconds: UInt64) { state.withLock { $0.nanoseconds += seconds * 1_000_000_000 } }

    func wakeAll() {
        let sleepers = state.withLock { state in
            defer { state.sleepers = [] }
            return state.sleepers
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// Nobody sleeps any more.
    func end() {
        state.withLock { $0.isAwake = true }
        wakeAll()
    }
}
