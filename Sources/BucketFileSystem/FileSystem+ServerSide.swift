import Locking
import Logging
import ObjectStore

/// Files that the bucket makes of what it has already: copies of other objects, and objects that have grown.
extension FileSystem {
    /// Stores a file without sending what the bucket has. False: the file is not of that kind, or the bucket cannot.
    func storeOnServer(
        _ contents: FileContents, of inode: InodeNumber, as name: ObjectName, over record: FileRecord?
    ) async throws(FileSystemError) -> Bool {
        var attempts = 0
        while let snapshot = contents.snapshot(), snapshot.untouchedBase > 0 {
            do throws(FileSystemError) {
                return try await storeOnServer(snapshot, contents, of: inode, as: name, over: record)
            } catch {
                attempts += 1
                // The source was to get other bytes, so this file has its own by now.
                if snapshot.copied != nil, contents.copiedBase == nil { continue }
                // Written while it was being sent; a file that is appended to often has a pause as often.
                guard case .staging = error, attempts < 4 else { throw error }
            }
        }
        return false
    }

    private func storeOnServer(
        _ snapshot: FileContents.Snapshot, _ contents: FileContents, of inode: InodeNumber, as name: ObjectName,
        over record: FileRecord?
    ) async throws(FileSystemError) -> Bool {
        let replaced = try namespace.withLock { (space) throws(FileSystemError) in try space.node(inode).replaces }
        let headers = headers(for: name, over: record, snapshot.changes)
        let base = JournalEntry.Base(record ?? replaced)
        do throws(FileSystemError) {
            let stored: ObjectMetadata?
            if let source = snapshot.copied {
                guard snapshot.size == source.record.metadata.size, snapshot.untouchedBase == snapshot.size else {
                    return false
                }
                stored = try await copy(source, to: name, headers, if: base.precondition)
            } else if let record, replaced == nil, grows(record, snapshot) {
                stored = try await append(snapshot, of: contents, to: record, headers)
            } else {
                stored = nil
            }
            guard let stored else { return false }
            let content = ObjectContent(
                engine: engine, name: name, objectGeneration: stored.objectGeneration, size: stored.size,
                crc32c: stored.crc32c)
            // First: content that is clean is what its record says.
            try learn(stored, of: inode)
            journaling(name) { () throws(FileSystemError) in
                try contents.didStore(snapshot, as: Journal.Place(stored), content: content)
            }
            try settleChanges(of: inode, contents)
            return true
        } catch {
            throw error.asFailureToStore
        }
    }

    // MARK: Copies

    /// Lets the file of handle `target` go on, from `targetOffset` to at most `count` bytes later, with the bytes of
    /// the file of handle `source`. Nothing is asked of the bucket before the target is stored; if it has become the
    /// whole of the source by then, the bucket copies it.
    /// - Throws: `.unsupported` for all else than copying an unchanged file from its start into one that has nothing
    ///   yet: the kernel then copies by reading and writing.
    package func copyRange(
        from source: HandleID, at sourceOffset: Int64, to target: HandleID, at targetOffset: Int64, count: Int64
    ) throws(FileSystemError) -> Int64 {
        let (from, into) = (try fileHandle(source), try fileHandle(target))
        guard from.mode.reads, into.mode.writes else { throw .badHandle }
        guard sourceOffset == targetOffset, from.inode != into.inode, sourceOffset >= 0, count >= 0 else {
            throw .unsupported
        }
        _ = try openContents(of: from.inode)
        let (_, record, link) = try place(of: from.inode)
        guard link == .attached, let record, let content = from.contents.unchangedBase,
            content.objectGeneration == record.objectGeneration
        else { throw .unsupported }
        let end = min(content.size, sourceOffset + min(count, Self.longestCopy))
        guard end > sourceOffset else { return 0 }
        let base = FileContents.CopiedBase(content: content, record: record)
        guard into.contents.copy(base, from: sourceOffset, to: end, today: clock.today()) else { throw .unsupported }
        try beginCopying(from.inode, to: into.inode)
        return end - sourceOffset
    }

    /// The kernel takes 32 bits of an answer.
    private static let longestCopy: Int64 = 1 << 30

    /// nil: the bucket cannot.
    private func copy(
        _ source: FileContents.CopiedBase, to name: ObjectName, _ headers: ObjectHeaders, if precondition: Precondition
    ) async throws(FileSystemError) -> ObjectMetadata? {
        let (object, generation) = source.content.location
        let copy = ObjectCopy(
            source: object, sourceGeneration: generation, destination: name, precondition: precondition,
            headers: headers)
        do throws(StorageError) {
            return try await store.copy(copy)
        } catch {
            if error.kind == .unsupported { return nil }
            throw FileSystemError(error)
        }
    }

    private func beginCopying(_ source: InodeNumber, to target: InodeNumber) throws(FileSystemError) {
        try pin(source)
        let isPinned = copies.withLock { copies in
            defer { copies[source, default: []].insert(target) }
            return copies[source] != nil
        }
        if isPinned { unpin(source) }
    }

    /// The target has the bytes, or nobody wants them.
    /// - Parameter source: nil: whatever it copies.
    func endCopying(_ source: InodeNumber? = nil, to target: InodeNumber) {
        let unused = copies.withLock { copies in
            copies.keys.filter { key in
                guard source == nil || source == key, copies[key]?.remove(target) != nil else { return false }
                return copies[key]?.isEmpty == true
            }.filter { copies.removeValue(forKey: $0) != nil }
        }
        for source in unused { unpin(source) }
    }

    /// A file is about to have other bytes, or none: those who are copying it fetch what they need first.
    func saveBytesForCopies(of inode: InodeNumber) async throws(FileSystemError) {
        for target in copies.withLock({ $0[inode] }) ?? [] {
            let contents = try? namespace.withLock { try $0.node(target).contents }
            if let contents, let snapshot = contents.snapshotOfCopy() {
                try await fill(contents, snapshot, of: nil)
                contents.didSaveForHolders()
            }
            endCopying(inode, to: target)
        }
    }
}
