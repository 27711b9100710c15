import FUSEBridge
import Glibc

/// `firemount refresh`: has the mount that `path` lies in forget what is cached of it, in the kernel too.
struct RefreshCommand {
    /// Absolute.
    let path: String

    func run() throws(CommandFailure) {
        do throws(MountControl.Refusal) {
            _ = try MountControl.read("user.storage.refresh", of: path)
        } catch {
            switch error.code {
            // It is believed to be absent, and that may be what is to be forgotten: its folder knows.
            case ENOENT where path != parentDirectory(of: path):
                try RefreshCommand(path: parentDirectory(of: path)).run()
            case ENODATA, EOPNOTSUPP: throw CommandFailure("\(path) lies in no firemount mount")
            default: throw CommandFailure("cannot refresh \(path): \(error)")
            }
        }
    }
}
