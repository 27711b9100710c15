package import BucketFileSystem
import CFUSE
import Glibc
import Locking
package import Logging

/// How a mount ended.
package enum MountEnd: Sendable, Equatable {
    case unmounted
    /// SIGINT, SIGTERM or SIGHUP.
    case signal(Int32)
    /// The connection to the kernel failed, in the system's words.
    case failed(String)
}

/// A bucket in the tree. Owned by the command; made, run once, dropped.
package final class Mount: Sendable {
    package let fileSystem: FileSystem
    private let options: MountOptions
    private let mountPoint: MountPoint
    private let session: Session
    private let kernelCache: KernelCacheQueue
    private let log: Logger
    /// Whether libfuse still has the mount in its hands.
    private let isMounted = Lock(true)
    /// Why the mount was given up before it was ready.
    private let failure = Lock<String?>(nil)

    /// Mounts; nothing is served before `run`, so whoever looks at the mount point waits.
    /// - Parameter makeFileSystem: is given the way to make the kernel forget. Called once, after the mount point and
    ///   the machine were found fit.
    package init(
        _ options: MountOptions, log: Logger,
        makeFileSystem: (any KernelCache) throws(FileSystemError) -> FileSystem
    ) throws(MountError) {
        mountPoint = try MountPoint(options.mountPoint)
        try Prerequisites.check(options)
        kernelCache = KernelCacheQueue()
        do throws(FileSystemError) {
            fileSystem = try makeFileSystem(kernelCache)
        } catch {
            throw .fileSystem(error)
        }
        self.options = options
        self.log = log
        LibfuseLog.install(log)
        guard let session = Session(options: options, fileSystem: fileSystem, log: log) else {
            throw .refused(mountPoint.path, cause: LibfuseLog.lastError ?? "unknown mount option")
        }
        self.session = session
        guard unsafe fuse_session_mount(session.raw, mountPoint.path) == 0 else {
            throw .refused(mountPoint.path, cause: LibfuseLog.lastError ?? "\(Errno.last)")
        }
        kernelCache.start(session)
    }

    deinit { finish() }

    /// Serves until somebody unmounts, or SIGINT, SIGTERM or SIGHUP comes; then the mount is gone from the tree.
    /// Answers that are still owed then are given when they come. Call it once, on the main thread: signals wake only
    /// that one, and are ignored once it has returned.
    /// - Parameter ready: called once, from another thread, when the mount answers.
    package func run(ready: @escaping @Sendable () -> Void) -> MountEnd {
        session.whenServing { [self] in
            switch mountPoint.rootDevice() {
            case .success(let device):
                ReadAhead.raise(device: device, log)
                ready()
            case .failure(let cause):
                failure.withLock { $0 = "the mount's root does not answer: \(cause)" }
                // A connection that never came up ends by itself.
                if !cause.meansDeadConnection { unmount() }
            }
        }
        // Ignores SIGPIPE too. A signal that is ignored already, as in a shell's background job, stays ignored.
        unsafe fuse_set_signal_handlers(session.raw)
        let result = serve()
        fuse_door_count_signals()
        unsafe fuse_remove_signal_handlers(session.raw)
        finish()
        mountPoint.clearIfDead()
        if let failure = failure.withLock({ $0 }) { return .failed(failure) }
        return switch result {
        case 0: .unmounted
        case 1...: .signal(result)
        default: .failed("\(Errno(negated: result))")
        }
    }

    /// Takes the mount out of the tree, from any thread. `run` returns when the last file that is open there is closed.
    package func unmount() { mountPoint.detach() }

    /// How many of SIGINT, SIGTERM and SIGHUP have come since the mount ended: what is staged is stored after `run`,
    /// and they must not kill that. libfuse restores only a handler that is its own.
    package static var furtherSignals: Int { Int(fuse_door_signal_count()) }

    /// 0, the number of the signal that ended it, or a negated error number.
    private func serve() -> Int32 {
        guard let loop = unsafe fuse_loop_cfg_create() else { return Errno.outOfMemory.negated }
        defer { unsafe fuse_loop_cfg_destroy(loop) }
        // A descriptor for each thread: they read requests without waiting for each other.
        unsafe fuse_loop_cfg_set_clone_fd(loop, 1)
        unsafe fuse_loop_cfg_set_max_threads(loop, UInt32(options.maxThreads))
        unsafe fuse_loop_cfg_set_idle_threads(loop, UInt32(options.maxThreads))
        return unsafe fuse_session_loop_mt(session.raw, loop)
    }

    private func finish() {
        let wasMounted = isMounted.withLock { isMounted in
            defer { isMounted = false }
            return isMounted
        }
        guard wasMounted else { return }
        unsafe fuse_session_unmount(session.raw)
        kernelCache.stop()
    }
}
