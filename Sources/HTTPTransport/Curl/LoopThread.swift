import Glibc
import Locking

/// A POSIX thread that runs one closure, with every signal blocked: signals belong to the command's main thread.
final class LoopThread: Sendable {
    private let thread: Lock<pthread_t?>

    init(_ body: @escaping @Sendable () -> Void) {
        thread = Lock(Self.start(body))
    }

    /// Waits for the thread to end; at most one caller waits. On the thread itself it only lets go of it.
    func join() {
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let thread else { return }
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t {
        var everySignal = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&everySignal)
        unsafe pthread_sigmask(SIG_BLOCK, &everySignal, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        let status = unsafe pthread_create(
            &thread, nil,
            { work in
                unsafe Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().body()
                return nil
            }, work)
        precondition(status == 0, "pthread_create: \(status)")
        return thread
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
