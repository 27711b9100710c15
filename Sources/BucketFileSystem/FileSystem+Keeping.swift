import Locking
import Logging
import ObjectStore

/// Files that lose their name while somebody has them open. What the holder may still read of a small one is fetched
/// before; a large one is kept in the bucket under a name of the mount's own until it is closed.
extension FileSystem {
    /// Where such objects are: below the mount's own folder.
    private func nameForKept() -> ObjectName {
        let random = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        return ObjectName(configuration.prefix.bytes + Self.ownFolder + Array("/removed/\(random)".utf8))
    }

    /// Whether fetching what holders of `inode` might read would be much.
    private func isKeptOnServer(_ inode: InodeNumber, _ record: FileRecord) throws(FileSystemError) -> Bool {
        // Where the bucket cannot copy, the bytes would travel twice.
        guard store.abilities.composes, record.metadata.size > configuration.largestFetchForHolders else {
            return false
        }
        let isOpen = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return node.kind == .file && node.handles > 0
        }
        guard isOpen else { return false }
        let (contents, _) = try openContents(of: inode)
        return contents.missingBytes(of: record.metadata.size) > configuration.largestFetchForHolders
    }

    /// Moves the object out of the way instead of deleting it. False: that is not allowed.
    func moveAside(
        _ object: ObjectName, _ record: FileRecord, _ inode: InodeNumber
    ) async throws(FileSystemError) -> Bool {
        guard try isKeptOnServer(inode, record) else { return false }
        try await saveBytesForCopies(of: inode)
        do throws(StorageError) {
            let moved = try await store.move(asideCopy(of: object, record))
            keep(moved, for: inode)
            try? didStore(moved, of: inode)
            return true
        } catch {
            if error.kind == .forbidden { return false }
            expire(inode)
            throw FileSystemError(error)
        }
    }

    /// Copies the object, which is about to be replaced. False: that is not allowed.
    func copyAside(
        _ object: ObjectName, _ record: FileRecord, _ inode: InodeNumber
    ) async throws(FileSystemError) -> Bool {
        guard try isKeptOnServer(inode, record) else { return false }
        try await saveBytesForCopies(of: inode)
        do throws(StorageError) {
            keep(try await store.copy(asideCopy(of: object, record)), for: inode)
            return true
        } catch {
            if error.kind == .forbidden { return false }
            throw FileSystemError(error)
        }
    }

    private func asideCopy(of object: ObjectName, _ record: FileRecord) -> ObjectCopy {
        ObjectCopy(
            source: object, sourceGeneration: record.objectGeneration, destination: nameForKept(),
            precondition: .mustNotExist)
    }

    private func keep(_ object: ObjectMetadata, for inode: InodeNumber) {
        namespace.withLock { space in
            guard let node = try? space.node(inode) else { return }
            node.keptObject = object
            node.contents?.relocate(to: object.name, objectGeneration: object.objectGeneration)
        }
    }

    /// Nobody reads it any more.
    func removeKept(_ object: ObjectMetadata) async {
        do throws(StorageError) {
            try await store.delete(object.name, if: .mustBe(object.objectGeneration))
        } catch {
            if error.kind != .notFound { log(.warning, "a removed file is left over in \(object.name): \(error)") }
        }
        await sweepOnce(before: object.timeCreated)
    }

    /// At the end.
    func removeAllKept() async {
        let kept = namespace.withLock { space in
            space.allNodes.compactMap { node in node.keptObject.take() }
        }
        for object in kept { await removeKept(object) }
    }
}
