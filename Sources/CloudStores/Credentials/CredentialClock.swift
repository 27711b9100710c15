import Glibc

/// The time as credentials see it; tests have their own.
struct CredentialClock: Sendable {
    /// Runs on while the machine is suspended.
    var now: @Sendable () -> ContinuousClock.Instant
    /// Seconds since 1970.
    var unixTime: @Sendable () -> Int64
    /// Returns early when the task is cancelled.
    var sleep: @Sendable (Duration) async -> Void

    static let system = CredentialClock(
        now: { .now },
        unixTime: { Int64(time(nil)) },
        sleep: { duration in
            // Cancellation is seen by the request that follows.
            try? await Task.sleep(for: duration)
        })
}
