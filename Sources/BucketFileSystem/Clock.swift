import Glibc
package import ObjectStore

/// A moment that only moves forward, also while the machine sleeps (`CLOCK_BOOTTIME`): for ages and expiry.
package struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since boot.
    let nanoseconds: UInt64

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Zero when `earlier` is later.
    func elapsed(since earlier: Instant) -> Duration {
        .nanoseconds(Int64(nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0))
    }
}

/// Where time comes from; tests bring their own.
package struct Clock: Sendable {
    let now: @Sendable () -> Instant
    let today: @Sendable () -> Timestamp
    /// Waits for so long, or less if the task is cancelled.
    let sleep: @Sendable (Duration) async -> Void

    package init(
        now: @escaping @Sendable () -> Instant, today: @escaping @Sendable () -> Timestamp,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.now = now
        self.today = today
        self.sleep = sleep
    }

    package static let system = Clock(
        now: {
            let time = systemTime(CLOCK_BOOTTIME)
            return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
        },
        today: {
            let time = systemTime(CLOCK_REALTIME)
            return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
        })

    private static func systemTime(_ id: clockid_t) -> timespec {
        var time = timespec()
        unsafe clock_gettime(id, &time)
        return time
    }
}
