import Locking
import Logging
import ObjectStore

/// What earlier mounts have left behind, and what this one could not store.
extension FileSystem {
    /// Begins to bring home what the mounts of `journals` have left, and goes on in the background. Call it once, when
    /// the mount answers.
    /// - Parameter journals: of the same bucket, and ours alone.
    package func recover(_ journals: [Journal]) {
        let recovery = Recovery(journals, own: journal, store: store, log: log)
        self.recovery.withLock { $0 = recovery }
        afterwork.start { [self] in await recovery.run { [self] name in forget(name) } }
    }

    /// The journals' entries, and what can be done about them; nil before `recover`.
    package var unsaved: Recovery? { recovery.withLock { $0 } }

    /// A line of `firemount recover`: `retry ID`, `discard ID`, or `store ID NAME`.
    /// - Throws: `.notFound`: no such entry; `.stale`: the bucket has something newer; `.exists`: NAME does.
    func obeyRecovery(_ line: String) async throws(FileSystemError) {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        guard let recovery = unsaved, words.count > 1 else { throw .invalidArgument }
        switch (words[0], words.count) {
        case ("retry", 2): forget(try await recovery.retry(words[1]))
        case ("discard", 2): try recovery.discard(words[1])
        case ("store", 3):
            let object = ObjectName(words[2])
            try await recovery.store(words[1], as: object)
            forget(object)
        default: throw .invalidArgument
        }
    }

    /// The bucket has another object of this name than we believed.
    private func forget(_ object: ObjectName) {
        guard object.bytes.starts(with: configuration.prefix.bytes) else { return }
        let segments = object.bytes.dropFirst(configuration.prefix.bytes.count).split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let expired = namespace.withLock { space -> (InodeNumber, EntryName)? in
            guard var folder = try? space.node(.root), let last = segments.last else { return nil }
            for segment in segments.dropLast() {
                guard case .node(let node)? = folder.directory?.child(EntryName(Array(segment))), node.directory != nil
                else {
                    // The kernel knows no further; what we know of the name is forgotten all the same.
                    folder.directory?.listedAt = nil
                    return nil
                }
                folder = node
            }
            let name = EntryName(Array(last))
            space.expire(name, in: folder)
            folder.directory?.listedAt = nil
            return (folder.number, name)
        }
        if let (folder, name) = expired { kernelCache.invalidate(name, in: folder) }
    }
}
