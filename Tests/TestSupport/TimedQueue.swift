import Glibc

/// A thread that runs jobs one after the other, each not before its time: a store's transfer thread in tests.
/// It ends with the last reference; jobs that are still waiting are dropped.
package final class TimedQueue: Sendable {
    private let shared = Shared()

    package init() {
        let handed = unsafe Unmanaged.passRetained(shared).toOpaque()
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { argument in
                unsafe Unmanaged<Shared>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, handed)
        precondition(status == 0, "pthread_create: \(status)")
        pthread_detach(thread)
    }

    deinit { shared.stop() }

    /// Runs `job` on the queue's thread, `delay` from now. Jobs of one moment run in the order they came.
    package func run(after delay: Duration = .zero, _ job: @escaping @Sendable () -> Void) {
        shared.add(job, after: delay)
    }

    /// What the thread and its owner share. A condition variable needs the raw mutex, hence not `Lock`; every access to
    /// the jobs is made while holding it.
    @safe
    private final class Shared: @unchecked Sendable {
        private struct Job {
            var time: ContinuousClock.Instant
            var work: @Sendable () -> Void
        }

        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private let changed: UnsafeMutablePointer<pthread_cond_t>
        /// Sorted by time; the latest first, so that the next one is taken from the end.
        private var jobs: [Job] = []
        private var isStopped = false

        init() {
            unsafe mutex = .allocate(capacity: 1)
            unsafe changed = .allocate(capacity: 1)
            unsafe pthread_mutex_init(mutex, nil)
            unsafe pthread_cond_init(changed, nil)
        }

        deinit {
            unsafe pthread_cond_destroy(changed)
            unsafe pthread_mutex_destroy(mutex)
            unsafe changed.deallocate()
            unsafe mutex.deallocate()
        }

        func add(_ work: @escaping @Sendable () -> Void, after delay: Duration) {
            let job = Job(time: .now.advanced(by: delay), work: work)
            unsafe pthread_mutex_lock(mutex)
            var low = 0
            var high = jobs.count
            while low < high {
                let middle = (low + high) / 2
                if jobs[middle].time > job.time { low = middle + 1 } else { high = middle }
            }
            jobs.insert(job, at: low)
            unsafe pthread_cond_signal(changed)
            unsafe pthread_mutex_unlock(mutex)
        }

        func stop() {
            unsafe pthread_mutex_lock(mutex)
            isStopped = true
            unsafe pthread_cond_signal(changed)
            unsafe pthread_mutex_unlock(mutex)
        }

        func run() {
            while let job = next() { job.work() }
        }

        /// Waits for the next job that is due; nil once stopped.
        private func next() -> Job? {
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            while !isStopped {
                guard let next = jobs.last else {
                    unsafe pthread_cond_wait(changed, mutex)
                    continue
                }
                let left = ContinuousClock.Instant.now.duration(to: next.time)
                if left <= .zero { return jobs.removeLast() }
                var deadline = Self.deadline(after: left)
                unsafe pthread_cond_timedwait(changed, mutex, &deadline)
            }
            return nil
        }

        private static func deadline(after wait: Duration) -> timespec {
            var now = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &now)
            let (seconds, attoseconds) = wait.components
            let nanoseconds = now.tv_nsec + Int(attoseconds / 1_000_000_000) + 1
            return timespec(
                tv_sec: now.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
        }
    }
}
