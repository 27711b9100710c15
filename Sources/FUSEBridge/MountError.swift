package import BucketFileSystem

/// Why a mount could not be made: one line that names the thing and the way out.
package enum MountError: Error, CustomStringConvertible, Sendable {
    case mountPointMissing(String)
    case mountPointNotADirectory(String)
    /// The cause is the system's words.
    case mountPointUnusable(String, cause: String)
    /// A mount whose process is gone lies there and cannot be removed.
    case deadMountRemains(String)
    case deviceMissing
    case deviceForbidden
    case sharingNotAllowed
    case fileSystem(FileSystemError)
    /// libfuse or the kernel said no, in their words.
    case refused(String, cause: String)

    package var description: String {
        switch self {
        case .mountPointMissing(let path):
            "\(path): no such directory; make it with: mkdir -p \(path)"
        case .mountPointNotADirectory(let path):
            "\(path): not a directory; a bucket is mounted on a directory"
        case .mountPointUnusable(let path, let cause):
            "\(path): \(cause)"
        case .deadMountRemains(let path):
            "\(path): a dead mount is in the way; remove it with: fusermount3 -uz \(path) (or, as root, umount -l)"
        case .deviceMissing:
            "/dev/fuse is missing; load it with: modprobe fuse (in a container, start it with --device /dev/fuse)"
        case .deviceForbidden:
            "/dev/fuse may not be opened; as root: chmod 0666 /dev/fuse"
                + " (a container also needs --cap-add SYS_ADMIN --device /dev/fuse)"
        case .sharingNotAllowed:
            "allow_other and allow_root need the line user_allow_other in /etc/fuse.conf, or root"
        case .fileSystem(let error):
            MountError.describe(error)
        case .refused(let path, let cause):
            "cannot mount on \(path): \(cause)"
        }
    }

    private static func describe(_ error: FileSystemError) -> String {
        switch error {
        case .storage(let failure): "\(failure)"
        case .staging(let cause): "staging directory: \(cause)"
        default: "the file system could not be made: \(error)"
        }
    }
}
