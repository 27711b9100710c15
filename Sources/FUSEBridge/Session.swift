import BucketFileSystem
import CFUSE
import Glibc
import Locking
import Logging

/// libfuse's side of one mount, and what its requests are served with. Everything that libfuse may still touch, above
/// all each owed reply, holds it; the last one destroys the libfuse session.
///
/// It is shared between threads: libfuse locks its session, and `raw` is set before the first request.
@safe
final class Session: @unchecked Sendable {
    let fileSystem: FileSystem
    let log: Logger
    private(set) var raw: OpaquePointer!
    private let onServing = Lock<(@Sendable () -> Void)?>(nil)

    /// nil: libfuse refused the options and told its log why.
    init?(
        options: MountOptions, fileSystem: FileSystem, log: Logger, operations: fuse_lowlevel_ops = makeOperations()
    ) {
        self.fileSystem = fileSystem
        self.log = log
        var arguments = unsafe fuse_args(argc: 0, argv: nil, allocated: 0)
        defer { unsafe fuse_opt_free_args(&arguments) }
        for argument in options.sessionArguments { unsafe fuse_opt_add_arg(&arguments, argument) }
        var operations = operations
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let size = MemoryLayout<fuse_lowlevel_ops>.size
        guard let session = unsafe fuse_session_new(&arguments, &operations, size, context) else { return nil }
        unsafe raw = session
    }

    deinit {
        if let raw = unsafe raw { unsafe fuse_session_destroy(raw) }
    }

    static func fromContext(_ context: UnsafeMutableRawPointer) -> Session {
        unsafe Unmanaged<Session>.fromOpaque(context).takeUnretainedValue()
    }

    /// Has `action` called, on a thread of its own, when the kernel begins to send requests.
    func whenServing(_ action: @escaping @Sendable () -> Void) {
        onServing.withLock { $0 = action }
    }

    /// Answers INIT: what of the kernel's offer is wanted.
    func negotiate(_ connection: inout fuse_conn_info) {
        let wanted =
            FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_AUTO_INVAL_DATA
            | FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_CACHE_SYMLINKS
        // Not FUSE_CAP_HANDLE_KILLPRIV: without it the kernel itself says so when a write or a new owner takes
        // set-user-ID away.
        // No splice: it gains nothing here. No writeback cache: it would take size, times and the end of an appended
        // file out of our hands.
        connection.want = UInt32(wanted) & connection.capable
        connection.max_write = 1 << 20
        connection.max_background = 128
        connection.congestion_threshold = 96
        if let action = onServing.withLock({ $0.take() }) { startThread(action) }
    }
}
