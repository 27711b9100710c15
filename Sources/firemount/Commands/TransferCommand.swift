import BucketFileSystem
import FUSEBridge
import Glibc

/// `firemount pause`, `resume`, `cancel`: commands uploads of a mount.
struct TransferCommand {
    let command: TransferRegistry.Command
    /// Absolute.
    let mountPoint: String
    /// nil: all.
    let id: UInt64?

    func run() throws(CommandFailure) {
        let path = try MountPoint.mounted(mountPoint)
        let attribute = "user.storage.\(command.rawValue)" + (id.map { ".\($0)" } ?? "")
        do throws(MountControl.Refusal) { _ = try MountControl.read(attribute, of: path) } catch {
            switch error.code {
            case ENOENT where id != nil:
                throw CommandFailure("there is no upload \(id!) any more; firemount status \(mountPoint) shows them")
            case ENODATA, EOPNOTSUPP: throw CommandFailure("\(mountPoint) is not where a firemount mount begins")
            default: throw CommandFailure("cannot \(command.rawValue) uploads of \(mountPoint): \(error)")
            }
        }
    }
}
