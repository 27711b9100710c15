import CFUSE
import Glibc

/// The directory that a bucket is mounted on.
struct MountPoint: Sendable {
    /// Absolute, without links: it stays right when the working directory changes.
    let path: String

    /// Finds the directory, and clears away a mount whose process is gone.
    init(_ typed: String) throws(MountError) {
        if MountPoint.isDead(typed) {
            MountPoint.detach(typed)
            if MountPoint.isDead(typed) { throw .deadMountRemains(typed) }
        }
        var attributes = stat()
        guard unsafe stat(typed, &attributes) == 0 else {
            let failure = Errno.last
            throw failure == .noEntry
                ? .mountPointMissing(typed) : .mountPointUnusable(typed, cause: "\(failure)")
        }
        guard attributes.st_mode & S_IFMT == S_IFDIR else { throw .mountPointNotADirectory(typed) }
        guard let resolved = unsafe realpath(typed, nil) else {
            throw .mountPointUnusable(typed, cause: "\(Errno.last)")
        }
        defer { unsafe free(resolved) }
        path = unsafe String(cString: resolved)
    }

    /// Takes the mount out of the tree; who has files open there keeps them.
    func detach() { MountPoint.detach(path) }

    /// The mount's device number, once the kernel has it. Without a request to the mount: killed while it waited for
    /// itself, this process could not end, nor could the kernel give the mount up.
    func rootDevice() -> Result<dev_t, Errno> {
        var device = dev_t()
        return unsafe fuse_door_device(path, &device) == 0 ? .success(device) : .failure(.last)
    }

    /// After the connection was severed the kernel keeps the mount, and each access fails.
    func clearIfDead() {
        if MountPoint.isDead(path) { detach() }
    }

    /// Whether a mount lies there whose process is gone.
    private static func isDead(_ path: String) -> Bool {
        var attributes = stat()
        return unsafe stat(path, &attributes) != 0 && Errno.last.meansDeadConnection
    }

    private static func detach(_ path: String) {
        if unsafe umount2(path, Int32(MNT_DETACH)) == 0 { return }
        // Only root may unmount; for others fusermount3 does it.
        _ = runProgram(["fusermount3", "-u", "-z", "-q", "--", path])
    }
}

/// Runs a program found in PATH (or where the system looks without one) and waits; nil if it could not be started.
private func runProgram(_ arguments: [String]) -> Int32? {
    var strings: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe strings.indices { unsafe free(strings[index]) } }
    var child = pid_t()
    guard unsafe posix_spawnp(&child, strings[0]!, nil, nil, &strings, environ) == 0 else { return nil }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0, Errno.last == .callInterrupted {}
    return status
}
