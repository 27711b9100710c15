/// `firemount unmount`: takes the mount away and waits for the process behind it, which may still be storing files.
struct UnmountCommand {
    let mountPoint: String

    func run() throws(CommandFailure) {
        let path = try MountPoint.mounted(mountPoint)
        let entry = try checkedEntry(at: path)
        if MountPoint.isDead(path) {
            try detach(path, lazily: true)
            return printLine("The process behind \(path) was gone; the mount is removed.")
        }
        let watch = MountWatch(device: entry.device, userID: entry.userID)
        try detach(path, lazily: false)
        if let watch { try Self.waitForEnd(watch, of: entry) }
    }

    private func checkedEntry(at path: String) throws(CommandFailure) -> MountTable.Entry {
        guard let entry = try MountPoint.table().entry(at: path) else {
            throw MountPoint.nothingMounted(at: mountPoint)
        }
        guard entry.isFiremount else {
            throw CommandFailure("\(mountPoint) is no firemount mount, it is \(entry.type): umount \(mountPoint)")
        }
        return entry
    }

    private func detach(_ path: String, lazily: Bool) throws(CommandFailure) {
        do { try Unmounting.detach(path, lazily: lazily) } catch {
            let users = MountUsers(of: path)
            guard users.users.isEmpty else {
                throw CommandFailure(
                    "\(mountPoint) is busy: \(users.description); end them or let them leave, then try again")
            }
            throw CommandFailure("cannot unmount \(mountPoint): \(error)")
        }
    }

    private static func waitForEnd(_ watching: consuming MountWatch, of entry: MountTable.Entry) throws(CommandFailure)
    {
        var watch = watching
        var end = watch.end(within: .seconds(1))
        if end == nil {
            printLine(
                "Waiting for firemount (process \(watch.processID)) to store the last changes of \(entry.source) …")
            var told = ""
            end = watch.end(within: nil) { text in
                // A line each time something else is left; on a terminal it is always the same line.
                if text != told { printLine("  " + text) }
                told = text
            }
        }
        switch end {
        case .finished(lost: []): return
        case .finished(let lost):
            throw CommandFailure("unmounted, but " + lost.joined(separator: "; "))
        case .died, nil:
            throw CommandFailure(
                "unmounted, but firemount (process \(watch.processID)) ended without saying that all is stored; "
                    + "its log tells more")
        }
    }
}
