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
        // The root has no object that could hold them.
        if inode != .root {
            let contents = try contents(of: inode)
            if contents.addChangesIfDirty(changes) { return resealChanges(of: inode, contents) }
            if try mayWait(inode, contents) {
                try await sendLater(changes, of: inode, contents)
            } else {
                try await send(changes, of: inode, contents)
            }
        }
        try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            guard node.kind == .directory else { return }
            node.folderChanges = node.folderChanges.merged(with: changes)
            node.folderChanges.headers = MetadataPatch()
        }
    }

    /// Sends what waits of a file's or folder's metadata.
    func sendChanges(of inode: InodeNumber) async throws(FileSystemError) {
        let waiting = try? namespace.withLock { try $0.node(inode).contents }
        guard let contents = waiting, contents.unsentChanges != nil else { return }
        try await send(nil, of: inode, contents)
    }

    /// Sends `changes` and what waits, in one patch.
    private func send(
        _ changes: MetadataChanges?, of inode: InodeNumber, _ contents: FileContents
    ) async throws(FileSystemError) {
        try await contents.gate.pass { () async throws(FileSystemError) in
            // An upload may have begun to be due meanwhile.
            if let changes, contents.addChangesIfDirty(changes) { return }
            let waiting = contents.unsentChanges
            guard let all = changes.map({ (waiting ?? MetadataChanges()).merged(with: $0) }) ?? waiting else { return }
            defer { forgetNote(of: contents) }
            do throws(FileSystemError) {
                try await patch(inode, all, contents)
                if let waiting { contents.didSend(waiting) }
            } catch {
                if let waiting, !error.mayPass { contents.didSend(waiting, failure: error) }
                throw error
            }
        }
    }

    /// Another client's change of metadata in between is merged, not overwritten. A folder keeps its times and
    /// permissions in its placeholder, which is made if there is none.
    private func patch(
        _ inode: InodeNumber, _ changes: MetadataChanges, _ contents: FileContents
    ) async throws(FileSystemError) {
        for _ in 0..<4 {
            let (name, record, link) = try place(of: inode)
            switch link {
            case .attached: break
            // Without a name there is nobody to see it.
            case .unlinked: return
            // The kernel asks for the name again, and finds what another client has put there.
            case .superseded: throw .stale
            }
            guard let record else { return try await makePlaceholder(of: inode, changes) }
            do throws(FileSystemError) {
                do throws(FileSystemError) {
                    return try await patch(name, record, changes, inode)
                } catch {
                    guard case .stale = error else { throw error }
                    try await refresh(inode, name, expecting: record)
                }
            } catch {
                guard error.isNotFound, name.bytes.last == UInt8(ascii: "/") else { throw error }
                // Another client took the placeholder away; the folder is there as long as something is in it.
                try namespace.withLock { (space) throws(FileSystemError) in try space.node(inode).record = nil }
            }
        }
        throw .stale
    }

    private func patch(
        _ name: ObjectName, _ record: FileRecord, _ changes: MetadataChanges, _ inode: InodeNumber
    ) async throws(FileSystemError) {
        let patch = changes.patch(over: record)
        guard !patch.isEmpty else { return }
        let patched = try await fromStore { () async throws(StorageError) in
            try await store.patch(name, patch, if: .unchanged(record))
        }
        try didStore(patched, of: inode)
        markWritten(inode)
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

extension FileSystemError {
    fileprivate var isNotFound: Bool {
        guard case .storage(let error) = self else { return false }
        return error.kind == .notFound
    }
}

extension MetadataChanges {
    /// As a change of the object as it is. Where only the bucket's clock told its time, a patch would move it.
    func patch(over record: FileRecord) -> MetadataPatch {
        var changes = self
        if record.posix.modified == nil, modified == nil { changes.modified = record.modified }
        return changes.patch(over: record.metadata.headers)
    }

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
