import Glibc
import Locking

/// Keeps a second server out of a data directory: two would overwrite each other's files. The kernel lets go of it when
/// the process ends, however it ends.
final class DirectoryLock: Sendable {
    private let descriptor: Lock<Int32>

    init(_ directory: String) throws(ServerError) {
        let path = directory + "/lock"
        let descriptor = unsafe path.withCString { unsafe open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw ServerError("cannot write to the data directory \(directory): \(reason); name another with --data")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw ServerError(
                "another server uses the data directory \(directory); end it or name another directory with --data")
        }
        self.descriptor = Lock(descriptor)
    }

    deinit { release() }

    /// Safe to call twice.
    func release() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }
}
