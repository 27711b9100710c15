import ObjectStore

/// What commands to a mount (`refresh`, `status`, `pause` …) speak through: extended attributes of its files.
extension FileSystem {
    /// A line written to `user.storage.control`. `refresh` is understood everywhere, the rest at the mount's root.
    /// - Throws: `.invalidArgument` for a line that is none of the commands.
    func obey(_ line: String, at inode: InodeNumber) async throws(FileSystemError) {
        let words = line.split { $0 == " " || $0.isNewline }
        switch words.first {
        case "refresh" where words.count == 1: try await refresh(inode)
        default: throw .invalidArgument
        }
    }

    /// What `firemount refresh` reads: it works where nothing may be written, and as the kernel locks nothing for a
    /// read, the answer can wait until the kernel has forgotten too.
    func refreshed(_ inode: InodeNumber) async throws(FileSystemError) -> String {
        try await refresh(inode)
        await kernelCache.settle()
        return "refreshed"
    }
}
