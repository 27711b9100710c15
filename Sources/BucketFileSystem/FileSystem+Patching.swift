import Locking
import ObjectStore

/// How a change of metadata alone reaches the bucket.
extension FileSystem {
    /// Times, permissions, owner.
    func change(_ inode: InodeNumber, _ wanted: MetadataChanges) async throws(FileSystemError) {
        var changes = try namespace.withLock { (space) throws(FileSystemError) in
            wanted.without(space.attributes(of: try space.node(inode)))
        }
        // What is so already costs nothing: `tar` and `cp -a` set what they find.
        guard !changes.isEmpty else { return }
        changes.changed = clock.today()
        try await apply(changes, to: inode)
    }

    /// Has the bucket take `changes`; those of a file with unsaved bytes go along with its upload.
    func apply(_ changes: MetadataChanges, to inode: InodeNumber) async throws(FileSystemError) {
        let (kind, contents) = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return (node.kind, node.contents)
        }
        if contents?.addChangesIfDirty(changes) == true { return }
        // The root has no object that could hold them.
        if inode != .root { try await patch(inode, changes) }
        guard kind == .directory else { return }
        try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            node.folderChanges = node.folderChanges.merged(with: changes)
            node.folderChanges.headers = MetadataPatch()
        }
    }

    /// Another client's change of metadata in between is merged, not overwritten. A folder keeps its times and
    /// permissions in its placeholder, which is made if there is none.
    private func patch(_ inode: InodeNumber, _ changes: MetadataChanges) async throws(FileSystemError) {
        let contents = try contents(of: inode)
        try await contents.gate.pass { () async throws(FileSystemError) in
            for _ in 0..<4 {
                let (name, record, link) = try place(of: inode)
                guard link == .attached, let record else {
                    if contents.addChangesIfDirty(changes) || link != .attached { return }
                    return try await makePlaceholder(of: inode, changes)
                }
                do throws(FileSystemError) {
                    return try await patch(name, record, changes, inode)
                } catch {
                    guard case .stale = error else { throw error }
                    try await refresh(inode, name, expecting: record)
                }
            }
            throw .stale
        }
    }

    private func patch(
        _ name: ObjectName, _ record: FileRecord, _ changes: MetadataChanges, _ inode: InodeNumber
    ) async throws(FileSystemError) {
        var changes = changes
        // Where only the bucket's clock told the time, the patch would move it.
        if record.posix.modified == nil, changes.modified == nil { changes.modified = record.modified }
        let patch = changes.patch(over: record.metadata.headers)
        guard !patch.isEmpty else { return }
        let patched = try await fromStore { () async throws(StorageError) in
            try await store.patch(name, patch, if: .unchanged(record))
        }
        try didStore(patched, of: inode)
    }

    /// The object's metadata anew; fails when its content is no longer ours.
    func refresh(
        _ inode: InodeNumber, _ name: ObjectName, expecting record: FileRecord
    ) async throws(FileSystemError) {
        let now = try await fromStore { () async throws(StorageError) in try await store.metadata(of: name) }
        guard now.objectGeneration == record.objectGeneration else {
            expire(inode)
            throw .stale
        }
        try didStore(now, of: inode)
    }

    /// Stores the object that stands for a folder. One that is there already is as good.
    func makePlaceholder(of inode: InodeNumber, _ changes: MetadataChanges) async throws(FileSystemError) {
        let name = try place(of: inode).name
        do throws(FileSystemError) {
            let stored = try await fromStore { () async throws(StorageError) in
                try await store.insert(Self.placeholder(name, changes))
            }
            try didStore(stored, of: inode)
        } catch {
            guard case .stale = error else { throw error }
            let found = try await fromStore { () async throws(StorageError) in try await store.metadata(of: name) }
            try didStore(found, of: inode)
            if !changes.isEmpty { try await patch(name, FileRecord(found), changes, inode) }
        }
    }

    static let placeholderType = "application/x-directory"

    static func placeholder(_ name: ObjectName, _ changes: MetadataChanges) -> Upload {
        Upload(
            name: name, headers: changes.applied(to: ObjectHeaders(contentType: placeholderType)),
            precondition: .mustNotExist, source: BytesSource([]))
    }
}

extension MetadataChanges {
    /// What is not so already.
    fileprivate func without(_ attributes: FileAttributes) -> MetadataChanges {
        let modified = modified == attributes.modified ? nil : modified
        // The access time is the modification time unless said otherwise, and must not move with it.
        let accessed = accessed ?? (modified == nil ? nil : attributes.accessed)
        return MetadataChanges(
            modified: modified, accessed: modified == nil && accessed == attributes.accessed ? nil : accessed,
            permissions: permissions == attributes.permissions ? nil : permissions,
            owner: owner == attributes.owner ? nil : owner, group: group == attributes.group ? nil : group)
    }
}
