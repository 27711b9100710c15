import Locking

/// When the service was last heard of, by whichever request. Any thread may use it.
///
/// One call of a program may need several requests, or stand behind others that want the same file, in the kernel even,
/// and all of that together shall not take much longer than one request may. So once a request has waited its whole
/// time for a service that nobody heard of meanwhile, those that follow only find out whether it is back, until it is,
/// or until it is time for another patient one.
final class ServiceHearing: Sendable {
    private struct State {
        var heard: Duration?
        /// When a request had waited its whole time and nothing had come.
        var gaveUp: Duration?
    }

    private let state = Lock(State())

    /// It has answered, or sent more than single bytes.
    func heard(at moment: Duration) {
        state.withLock { state in
            state.heard = moment
            state.gaveUp = nil
        }
    }

    /// A request ends at `moment` that had no progress for `idle`.
    func failed(at moment: Duration, after idle: Duration, of limit: Duration) {
        // Near the end there is no time for another attempt.
        guard idle >= limit / 2 else { return }
        state.withLock { state in
            if let heard = state.heard, moment - heard < idle { return }
            state.gaveUp = moment
        }
    }

    /// Whether a request that begins now need not be patient.
    func isGone(at now: Duration, limit: Duration) -> Bool {
        state.withLock { state in state.gaveUp.map { now - $0 < limit } ?? false }
    }
}
