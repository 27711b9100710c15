import BucketFileSystem
import Locking
import Logging

/// Carries the one owed reply to wherever the answer comes from, and settles who answers first: the result, or a caller
/// that is being killed. Any thread may call it.
///
/// The kernel reports every signal that reaches a waiting caller as an interrupt, also those that the caller handles
/// (SIGCHLD, SIGALRM, SIGWINCH), and it has no way to restart the call: EINTR from `close` or `rename` is an error that
/// most programs do not expect. So a signal is answered only if it ends the caller. Such a caller must not wait for the
/// network: it gets EINTR at once, and what it asked for is cancelled, or goes on without it if it changes the bucket.
final class OwedReply: Sendable {
    private struct State: ~Copyable {
        var reply: Reply?
        var task: Task<Void, Never>?
    }

    private let session: Session
    private let state: Lock<State>

    init(_ reply: consuming Reply) {
        session = reply.session
        state = Lock(State(reply: reply, task: nil))
    }

    deinit {
        // Without this, libfuse could call into freed memory; the reply then answers for itself.
        _ = take()
    }

    // MARK: Answering

    func fail(_ error: FileSystemError) { take()?.fail(error) }

    func done() { take()?.done() }

    /// Answers with an entry; the kernel's lookup of it is taken back if the kernel did not hear of it.
    func answer(_ entry: Entry) {
        let isTaken = take()?.entry(entry) ?? false
        if !isTaken { session.fileSystem.forget(entry.inode, lookups: 1) }
    }

    func answer(_ file: OpenedFile) {
        let isTaken = take()?.opened(file) ?? false
        if !isTaken { session.fileSystem.release(file.handle) }
    }

    func answer(directory: HandleID) {
        let isTaken = take()?.openedDirectory(directory) ?? false
        if !isTaken { session.fileSystem.releaseDirectory(directory) }
    }

    func answer(_ entry: Entry, _ file: OpenedFile) {
        let isTaken = take()?.created(entry, file) ?? false
        if !isTaken {
            session.fileSystem.release(file.handle)
            session.fileSystem.forget(entry.inode, lookups: 1)
        }
    }

    func answer(_ buffer: DirectoryBuffer) {
        let isTaken = take()?.directory(buffer) ?? false
        if !isTaken {
            for inode in buffer.lookedUp { session.fileSystem.forget(inode, lookups: 1) }
        }
    }

    /// The reply, for the first who asks; nil for all others.
    func take() -> Reply? {
        var reply = state.withLock { $0.reply.take() }
        // Outside our lock: it waits for an interrupt that is being delivered.
        reply?.endWatch()
        return reply
    }

    // MARK: Interrupts

    /// From now on a caller that is killed does not wait. Call it when the answer was not at hand.
    /// - Parameter task: what to cancel then; nil if it shall go on.
    func watch(cancelling task: Task<Void, Never>?) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        // Under our lock, because libfuse's request is gone as soon as it is answered. What libfuse may call at once
        // takes no lock of ours.
        state.withLock { state in
            guard state.reply != nil else { return }
            state.task = task
            unsafe state.reply?.watch(context) { request, context in
                // libfuse holds the request while this runs, and `take` waits for that: both pointers are alive.
                guard let request = unsafe request, let context = unsafe context else { return }
                let caller = unsafe Caller(of: request)
                unsafe Unmanaged<OwedReply>.fromOpaque(context).takeUnretainedValue().wasSignalled(caller)
            }
        }
    }

    /// How long the end of a killed process waits for what it had open: where all is well that is enough, and its files
    /// are in the bucket when it is gone.
    private static let patienceOfTheKilled = Duration.seconds(1)

    /// Has a caller that is dead already not wait either. Call it after `watch`.
    func letGo(ifKilled caller: Caller) {
        guard isOwed, caller.wasKilled else { return }
        Task {
            try? await Task.sleep(for: Self.patienceOfTheKilled)
            abandon()
        }
    }

    /// How often a caller that has a signal pending is looked at again: the kernel reports only the first one.
    private static let watchInterval = Duration.milliseconds(100)

    private func wasSignalled(_ caller: Caller) {
        session.log(.trace, "a signal reached thread \(caller.threadID)")
        Task {
            while isOwed {
                if caller.isDying { return abandon() }
                try? await Task.sleep(for: OwedReply.watchInterval)
            }
        }
    }

    private var isOwed: Bool { state.withLock { $0.reply != nil } }

    private func abandon() {
        let task = state.withLock { $0.task }
        guard let reply = take() else { return }
        session.log(.debug, "\(reply.operation): the caller was killed")
        reply.fail(.callerIsGone)
        task?.cancel()
    }
}
