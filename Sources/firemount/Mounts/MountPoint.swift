import Glibc

/// A directory to mount on, or one that is mounted.
enum MountPoint {
    /// Makes sure that something can be mounted on `path`, and clears away what a firemount that was killed left there.
    /// Returns the path without links.
    static func checked(_ path: String, allowsNonEmpty: Bool) throws(CommandFailure) -> String {
        let resolved = try resolved(path)
        if isDead(resolved) { try clearDeadMount(at: resolved) }
        let status: stat
        do { status = try Files.status(of: resolved) } catch {
            throw CommandFailure(
                "cannot use the mount point \(path): \(error); check who may enter the directories above it")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw CommandFailure("the mount point \(path) is not a directory; name one that is")
        }
        let occupant = try table().entry(at: resolved)
        // What init mounts on first use is covered by the mount that it asks for; looking inside would wait for that.
        if occupant?.type == "autofs" { return resolved }
        if let occupant {
            throw CommandFailure(
                "the mount point \(path) is occupied: \(occupant.source) (\(occupant.type)) is mounted there; "
                    + "unmount it or name another")
        }
        if !allowsNonEmpty { try checkEmpty(resolved) }
        if geteuid() != 0 { try checkWritable(resolved) }
        return resolved
    }

    /// The path without links. Works for a mount whose process is gone, too.
    static func resolved(_ path: String) throws(CommandFailure) -> String {
        do throws(SystemError) { return try Files.canonicalPath(path) } catch {
            switch error.code {
            case ENOENT: throw CommandFailure("the mount point \(path) does not exist; make it first: mkdir -p \(path)")
            case ENOTDIR: throw CommandFailure("the mount point \(path) is not a directory; name one that is")
            case ENOTCONN: break
            default: throw CommandFailure("cannot use the mount point \(path): \(error)")
            }
        }
        guard let parent = try? Files.canonicalPath(parentDirectory(of: path)) else {
            throw CommandFailure(
                "cannot use the mount point \(path): its process is gone; unmount it: umount -l \(path)")
        }
        return parent == "/" ? "/" + lastComponent(of: path) : "\(parent)/\(lastComponent(of: path))"
    }

    /// The same for one that something is said to be mounted on already.
    static func mounted(_ path: String) throws(CommandFailure) -> String {
        do throws(SystemError) { _ = try Files.canonicalPath(path) } catch {
            if error.code == ENOENT { throw nothingMounted(at: path) }
        }
        return try resolved(path)
    }

    static func nothingMounted(at path: String) -> CommandFailure {
        CommandFailure("nothing is mounted at \(path); findmnt -t fuse.firemount lists what is")
    }

    /// Whether a FUSE file system is mounted there whose process is gone. `stat` would not do: the kernel may still
    /// have its answer.
    static func isDead(_ path: String) -> Bool {
        do { try Files.askFileSystem(of: path) } catch { return error.code == ENOTCONN }
        return false
    }

    static func table() throws(CommandFailure) -> MountTable {
        do { return try MountTable.current() } catch {
            throw CommandFailure("cannot read /proc/self/mountinfo: \(error)")
        }
    }

    private static func clearDeadMount(at path: String) throws(CommandFailure) {
        guard let occupant = try table().entry(at: path), occupant.isFiremount else {
            throw CommandFailure("the mount point \(path) is occupied by a dead mount; remove it: umount -l \(path)")
        }
        do { try Unmounting.detach(path, lazily: true) } catch {
            throw CommandFailure("cannot remove the dead mount at \(path): \(error); as root: umount -l \(path)")
        }
    }

    /// What fusermount3 asks of users; it would say so in words of its own.
    private static func checkWritable(_ path: String) throws(CommandFailure) {
        do { try Files.checkWritable(path) } catch {
            throw CommandFailure("cannot mount on \(path): \(error); name a directory of your own")
        }
    }

    private static func checkEmpty(_ path: String) throws(CommandFailure) {
        let entries: [String]
        do { entries = try Files.entries(of: path) } catch {
            throw CommandFailure("cannot look into the mount point \(path): \(error)")
        }
        guard entries.isEmpty else {
            throw CommandFailure(
                "the mount point \(path) is not empty, and a mount would hide what is there; name an empty directory, "
                    + "or add --nonempty")
        }
    }
}
