import Dispatch
import Locking

/// Runs a task, and whatever is played to it, on the thread that waits for its end: quick on a machine that is busy,
/// and in the same order each time as far as the code under test starts no tasks of its own.
final class WaitingThread: TaskExecutor {
    private let steps = Lock<[@Sendable () -> Void]>([])
    private let stepIsThere = DispatchSemaphore(value: 0)

    /// Blocks until `body` is done, and does what is left over.
    static func wait<Answer: Sendable>(for body: @escaping @Sendable (WaitingThread) async -> Answer) -> Answer {
        let thread = WaitingThread()
        let outcome = Lock<Answer?>(nil)
        Task(executorPreference: thread) {
            let answer = await body(thread)
            outcome.withLock { $0 = answer }
        }
        while true {
            if let answer = outcome.withLock({ $0 }), thread.steps.withLock({ $0.isEmpty }) { return answer }
            thread.stepIsThere.wait()
            let step = thread.steps.withLock { $0.removeFirst() }
            step()
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        run { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Does `step` in its turn, never at once.
    func run(_ step: @escaping @Sendable () -> Void) {
        steps.withLock { $0.append(step) }
        stepIsThere.signal()
    }
}
