import ObjectStore

/// What commands to a mount (`refresh`, `status`, `pause` …) speak through: extended attributes of its files.
extension FileSystem {
    /// A line written to `user.storage.control`. `refresh` is understood everywhere, the rest at the mount's root.
    /// - Throws: `.invalidArgument` for a line that is none of the commands.
    func obey(_ line: String, at inode: InodeNumber) async throws(FileSystemError) {
        let words = line.split { $0 == " " || $0.isNewline }
        switch words.first {
        case "refresh" where words.count == 1: try await refresh(inode)
        case "retry" where inode == .root, "discard" where inode == .root, "store" where inode == .root:
            try await obeyRecovery(line)
        case let word?:
            guard let command = TransferRegistry.Command(rawValue: String(word)), words.count <= 2 else {
                throw .invalidArgument
            }
            let id = words.count == 2 ? UInt64(words[1]).map(TransferID.init(rawValue:)) : nil
            guard words.count == 1 || id != nil else { throw .invalidArgument }
            _ = try perform(command, on: id, at: inode)
        case nil: throw .invalidArgument
        }
    }

    /// What `firemount pause`, `resume` and `cancel` read: writing an attribute of the root would wait for whoever
    /// makes or removes a name in it, as the kernel locks it, and that may be just what waits for the network.
    /// - Throws: `.notFound` for a transfer that has ended or never was.
    func perform(
        _ command: TransferRegistry.Command, on id: TransferID?, at inode: InodeNumber
    ) throws(FileSystemError) -> String {
        guard inode == .root else { throw .noSuchAttribute }
        guard transfers.perform(command, on: id) else { throw .notFound }
        return command.rawValue
    }

    func status(at inode: InodeNumber) throws(FileSystemError) -> String {
        guard inode == .root else { throw .noSuchAttribute }
        let entries = try journal.entries().entries
        return MountStatus(
            isPaused: transfers.isPaused, transfers: transfers.entries, unsaved: entries,
            kept: entries.count(where: \.isGivenUp) + (unsaved?.keptByEarlierMounts ?? 0),
            journal: journal.directory.path
        ).json
    }

    /// What `firemount refresh` reads: it works where nothing may be written, and as the kernel locks nothing for a
    /// read, the answer can wait until the kernel has forgotten too.
    func refreshed(_ inode: InodeNumber) async throws(FileSystemError) -> String {
        try await refresh(inode)
        await kernelCache.settle()
        return "refreshed"
    }
}
