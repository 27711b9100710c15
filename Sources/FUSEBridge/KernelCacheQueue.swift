import BucketFileSystem
import CFUSE
import Glibc
import Locking
import Logging

/// Makes the kernel forget, in the order it was asked to, on a thread of its own: the kernel may make the sender wait
/// for locks that an operation holds while it waits for us.
///
/// It is bounded by what the kernel knows: what already waits is not queued again.
@safe
final class KernelCacheQueue: KernelCache, @unchecked Sendable {
    private enum Invalidation: Hashable, Sendable {
        case inode(InodeNumber)
        case entry(EntryName, parent: InodeNumber)
    }

    private struct State: Sendable {
        var waiting: [Invalidation] = []
        var known: Set<Invalidation> = []
        /// Who wants to know when `waiting` was sent.
        var waiters: [CheckedContinuation<Void, Never>] = []
        var isStopped = false
    }

    private let state = Lock(State())
    /// Counts wake-ups of the thread. A POSIX semaphore may be used from any thread.
    private let wakeUps: UnsafeMutablePointer<sem_t>

    init() {
        unsafe wakeUps = .allocate(capacity: 1)
        unsafe wakeUps.initialize(to: sem_t())
        unsafe sem_init(wakeUps, 0, 0)
    }

    deinit {
        unsafe sem_destroy(wakeUps)
        unsafe wakeUps.deallocate()
    }

    func invalidate(_ inode: InodeNumber) { enqueue(.inode(inode)) }

    func invalidate(_ name: EntryName, in parent: InodeNumber) { enqueue(.entry(name, parent: parent)) }

    func settle() async {
        await withCheckedContinuation { continuation in
            let isStopped = state.withLock { state in
                if !state.isStopped { state.waiters.append(continuation) }
                return state.isStopped
            }
            if isStopped { continuation.resume() }
            unsafe sem_post(wakeUps)
        }
    }

    /// From now on what is queued reaches the kernel. The thread holds `session` until `stop`.
    func start(_ session: Session) {
        startThread { [self] in
            while let (batch, waiters) = nextBatch() {
                for invalidation in batch { send(invalidation, session) }
                for waiter in waiters { waiter.resume() }
            }
        }
    }

    /// Ends the thread after what it is sending. It is not waited for: the kernel may hold it until the connection
    /// ends.
    func stop() {
        state.withLock { $0.isStopped = true }
        unsafe sem_post(wakeUps)
    }

    private func enqueue(_ invalidation: Invalidation) {
        let wakes = state.withLock { state in
            guard !state.isStopped, state.known.insert(invalidation).inserted else { return false }
            state.waiting.append(invalidation)
            return state.waiting.count == 1
        }
        if wakes { unsafe sem_post(wakeUps) }
    }

    private func nextBatch() -> (batch: [Invalidation], waiters: [CheckedContinuation<Void, Never>])? {
        while true {
            let (batch, waiters, isStopped) = state.withLock { state in
                let (batch, waiters) = (state.waiting, state.waiters)
                state.waiting = []
                state.known = []
                state.waiters = []
                return (batch, waiters, state.isStopped)
            }
            if isStopped {
                for waiter in waiters { waiter.resume() }
                return nil
            }
            if !batch.isEmpty || !waiters.isEmpty { return (batch, waiters) }
            unsafe sem_wait(wakeUps)
        }
    }

    private func send(_ invalidation: Invalidation, _ session: Session) {
        let status =
            switch invalidation {
            case .inode(let inode):
                // From the first byte to the end, and the attributes.
                unsafe fuse_lowlevel_notify_inval_inode(session.raw, inode.rawValue, 0, 0)
            case .entry(let name, let parent):
                unsafe withCString(name.bytes) {
                    unsafe fuse_lowlevel_notify_inval_entry(session.raw, parent.rawValue, $0, name.bytes.count)
                }
            }
        // The kernel often does not have it (any more): that is what was wanted.
        guard status != 0 else { return }
        let failure = Errno(negated: status)
        if failure != .noEntry { session.log(.debug, "invalidating \(invalidation): \(failure)") }
    }
}
