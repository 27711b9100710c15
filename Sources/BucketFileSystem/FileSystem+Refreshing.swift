import Locking
import ObjectStore

/// Forgetting what is cached, on demand.
extension FileSystem {
    /// Forgets what is cached of a file, or of a folder and everything below it, here and in the kernel: what is looked
    /// at next is asked of the bucket. Unsaved bytes and changes stay, and so do open files: each goes on with its
    /// version.
    package func refresh(_ inode: InodeNumber) async throws(FileSystemError) {
        try await sendChanges(below: inode)
        let forgotten = try namespace.withLock { (space) throws(FileSystemError) in
            space.forgetCached(from: try space.node(inode))
        }
        for contents in forgotten.contents { contents.forgetRead() }
        for inode in forgotten.inodes { kernelCache.invalidate(inode) }
        for entry in forgotten.entries { kernelCache.invalidate(entry.name, in: entry.parent) }
        try await findVanished(forgotten.parents)
    }

    /// The kernel goes on believing in a folder for as long as it was told to, since taking its entry away would also
    /// pull it from under a shell that stands in it. So each folder that has folders is listed now, and those that are
    /// gone are told of.
    private func findVanished(_ parents: [InodeNumber]) async throws(FileSystemError) {
        for parent in parents {
            let before = attachedFolders(in: parent)
            guard let listing = try? joinListing(of: parent) else { continue }
            defer { listing.leave() }
            _ = try await listing.isAllThere()
            for name in before.subtracting(attachedFolders(in: parent)) { kernelCache.invalidate(name, in: parent) }
        }
    }

    private func attachedFolders(in parent: InodeNumber) -> Set<EntryName> {
        namespace.withLock { space in
            guard let directory = (try? space.node(parent))?.directory else { return [] }
            return Set(
                directory.children.compactMap { name, child in
                    if case .node(let node) = child, node.kind == .directory { name } else { nil }
                })
        }
    }
}

/// What of the kernel's knowledge and of cached bytes must go.
struct ForgottenCache {
    var inodes: [InodeNumber] = []
    var entries: [(name: EntryName, parent: InodeNumber)] = []
    var contents: [FileContents] = []
    /// Folders that have folders the kernel knows.
    var parents: [InodeNumber] = []
}

extension Namespace {
    /// Believes nothing about `node`, and nothing below it, any more. Names that only we know of stay.
    mutating func forgetCached(from node: Node) -> ForgottenCache {
        var forgotten = ForgottenCache()
        forget(node, &forgotten)
        if let parent = node.parent, node.link == .attached {
            if node.kind == .directory { forgotten.parents.append(parent.number) }
            // A listing that is fresh would answer for the name.
            parent.directory?.listedAt = nil
        }
        return forgotten
    }

    private func forget(_ node: Node, _ forgotten: inout ForgottenCache) {
        node.asOf = Self.longAgo
        forgotten.inodes.append(node.number)
        if let contents = node.contents { forgotten.contents.append(contents) }
        if let parent = node.parent, node.link == .attached, node.kind != .directory {
            forgotten.entries.append((node.name, parent.number))
        }
        guard let directory = node.directory else { return }
        directory.listedAt = nil
        // One that is under way may have asked already.
        directory.listing = nil
        for (name, child) in directory.children {
            switch child {
            case .node(let below):
                if below.kind == .directory, forgotten.parents.last != node.number {
                    forgotten.parents.append(node.number)
                }
                forget(below, &forgotten)
            case .known, .listed, .absent:
                directory.set(name, nil)
                forgotten.entries.append((name, node.number))
            }
        }
    }

    /// Older than any answer.
    static let longAgo = Instant(nanoseconds: 0)
}
