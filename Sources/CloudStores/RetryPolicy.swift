import HTTPTransport

/// Which failures are tried again, and after how long (PROTOCOL 4.11). A pure value.
struct RetryPolicy: Sendable, Equatable {
    /// What a failed attempt says about trying again.
    enum Failure: Sendable, Equatable {
        /// - Parameter retryAfter: what the server asked for.
        case answer(status: Int, isRateLimit: Bool, retryAfter: Duration?)
        case transport(TransportError.Kind)
        /// Fewer bytes than announced, or a wrong checksum.
        case damaged
    }

    /// What repeating a request would do.
    enum Safety: Sendable, Equatable {
        /// The same as sending it once.
        case repeatable
        /// Harm, unless the server has certainly not acted on it.
        case onceOnly
    }

    /// The longest all attempts may take without progress.
    var timeLimit: Duration
    /// The first pause is at most this long, the next ones at most twice the one before.
    var firstPause: Duration = .seconds(1)
    /// Bound of a single pause (PROTOCOL 4.11: 30 to 60 s in the official clients).
    var longestPause: Duration = .seconds(30)
    /// Bound of attempts without progress.
    var attemptLimit = 20
    /// With less time than this left no further attempt is worth beginning.
    var leastAttempt: Duration = .milliseconds(200)
    /// What a request gets while the service counts as gone: enough to find out that it answers again, and so little
    /// that many in a row do not add up.
    var lastAttempt: Duration { min(max(timeLimit / 20, .milliseconds(500)), timeLimit) }

    /// How long to wait before the next attempt; nil: the failure is final.
    /// - Parameters:
    ///   - failures: how many attempts have failed since there was progress, this one included.
    ///   - idle: how long there has been no progress.
    ///   - random: in 0..<1. The pause is drawn evenly from zero to its bound, so that many clients do not come
    ///     back at once.
    func pause(after failure: Failure, _ safety: Safety, failures: Int, idle: Duration, random: Double) -> Duration? {
        let left = timeLimit - idle
        guard failures < attemptLimit, left >= leastAttempt, Self.isWorthRetrying(failure, safety) else { return nil }
        let doublings = min(max(failures - 1, 0), 16)
        // Half of what is left stays for the attempt itself, so that the time is used to its end.
        var pause = min(min(firstPause * (1 << doublings), longestPause) * random, left / 2)
        if case .answer(_, _, let asked?) = failure { pause = max(pause, asked) }
        return left - pause >= leastAttempt / 2 ? pause : nil
    }

    private static func isWorthRetrying(_ failure: Failure, _ safety: Safety) -> Bool {
        switch failure {
        // A request that was refused to slow us down was not acted on.
        case .answer(let status, let isRateLimit, _) where status == 429 || isRateLimit: true
        case .answer(let status, _, _):
            safety == .repeatable && (status == 408 || (500...599).contains(status) && status != 501)
        case .transport(.unresolved), .transport(.notConnected): true
        case .transport(.connectionLost), .transport(.timedOut): safety == .repeatable
        case .transport(.insecure), .transport(.credentialsOverPlainHTTP), .transport(.malformed),
            .transport(.bodySource), .transport(.cancelled):
            false
        case .damaged: safety == .repeatable
        }
    }

    /// Whether the server may have acted on a request that failed like this.
    static func mayHaveActed(_ failure: Failure) -> Bool {
        switch failure {
        case .answer(let status, let isRateLimit, _): (status == 408 || (500...599).contains(status)) && !isRateLimit
        case .transport(.connectionLost), .transport(.timedOut), .transport(.malformed): true
        case .transport, .damaged: false
        }
    }
}

/// Time and chance as retries use them; tests hand in their own.
struct RetryClock: Sendable {
    /// Time since some fixed moment.
    var now: @Sendable () -> Duration
    /// Throws when the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void
    /// In 0..<1.
    var random: @Sendable () -> Double

    static let system = {
        let start = ContinuousClock.now
        return RetryClock(
            now: { start.duration(to: .now) },
            sleep: { try await Task.sleep(for: $0) },
            random: { Double.random(in: 0..<1) })
    }()
}

/// How the attempts of one call have gone so far.
struct RetryState: Sendable {
    let policy: RetryPolicy
    let clock: RetryClock
    private(set) var lastProgress: Duration
    private var failures = 0
    /// How far into its body any attempt has come.
    private var furthest: Int64 = 0
    /// Whether an attempt that failed may have been acted on.
    private(set) var isAmbiguous = false
    /// What is taken off the time, because the service counts as gone.
    private var discount = Duration.zero

    var isPatient: Bool { discount == .zero }

    init(policy: RetryPolicy, clock: RetryClock) {
        self.policy = policy
        self.clock = clock
        lastProgress = clock.now()
    }

    /// Leaves the call a last attempt.
    mutating func becomeImpatient() {
        discount = policy.timeLimit - policy.lastAttempt
        lastProgress -= discount
    }

    mutating func becomePatient() {
        lastProgress += discount
        discount = .zero
    }

    /// How long there has been no progress.
    var idle: Duration { clock.now() - lastProgress }

    /// How much longer the call may go without progress; an attempt that is begun gets a moment in any case.
    var remaining: Duration { max(.milliseconds(100), policy.timeLimit - idle) }

    /// Something was achieved that a next attempt builds on.
    mutating func progressed() {
        failures = 0
        discount = .zero
        lastProgress = clock.now()
    }

    /// The body came as far as `offset` at `moment`, though a next attempt may have to begin anew. That counts once:
    /// whoever takes the same bytes time and again without an answer makes no progress. And what takes bytes may be
    /// buffers alone, so a service that counts as gone is not back for that.
    mutating func moved(to offset: Int64, at moment: Duration) {
        guard isPatient, offset > furthest else { return }
        furthest = offset
        lastProgress = max(lastProgress, moment)
    }

    /// The server may have acted on something we sent, as far as we know.
    mutating func becameAmbiguous() { isAmbiguous = true }

    /// How long to wait before the next attempt; nil: give up.
    mutating func pause(after failure: RetryPolicy.Failure, _ safety: RetryPolicy.Safety) -> Duration? {
        failures += 1
        isAmbiguous = isAmbiguous || RetryPolicy.mayHaveActed(failure)
        return policy.pause(
            after: failure, safety, failures: failures, idle: idle, random: clock.random())
    }
}

extension Duration {
    /// For people.
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
