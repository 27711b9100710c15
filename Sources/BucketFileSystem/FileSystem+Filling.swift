import Locking
import Logging
import ObjectStore

/// How bytes of the bucket's version get into a staging file.
extension FileSystem {
    /// Fetches what the file still shows of the bucket's version into the staging file.
    /// - Parameter record: the bucket's version; nil: there is none, and what the file shows is being copied.
    func fill(
        _ contents: FileContents, _ snapshot: FileContents.Snapshot, of record: FileRecord?
    ) async throws(FileSystemError) {
        guard !snapshot.missingBase.isEmpty else { return }
        guard let base = snapshot.base else { throw .stale }
        let source = CheckedBase(
            store: store, size: base.size, crc32c: (snapshot.copied?.record ?? record)?.metadata.crc32c
        ) { base.location }
        unsafe try await source.fetch(snapshot.missingBase) { (bytes, offset) throws(FileSystemError) in
            try unsafe contents.fill(bytes, at: offset)
        } undoing: { error in
            // The next attempt would take it for good.
            contents.dropFilled()
            if error.isDamage { log(.warning, "\(error.words)") }
        }
    }

    /// The bytes of an open file that is about to lose its object, so that its holders can go on reading.
    func saveBytesForHolders(of inode: InodeNumber) async throws(FileSystemError) {
        try await saveBytesForCopies(of: inode)
        let isOpen = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return node.kind == .file && node.handles > 0 && node.record != nil
        }
        guard isOpen else { return }
        let (contents, baseSize) = try openContents(of: inode)
        let makeStaging = { () throws(FileSystemError) in try self.makeStagingFile(of: inode) }
        guard let snapshot = try contents.snapshotForHolders(baseSize: baseSize, makeStaging) else { return }
        try await fill(contents, snapshot, of: try place(of: inode).record)
        contents.didSaveForHolders()
    }
}
