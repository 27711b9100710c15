import Locking
import Logging
import ObjectStore

/// Making and removing.
extension FileSystem {
    package func makeDirectory(
        _ name: EntryName, in parent: InodeNumber, permissions: UInt16
    ) async throws(FileSystemError) -> Entry {
        let changes = MetadataChanges(
            permissions: permissions == configuration.directoryPermissions ? nil : permissions)
        return try await make(name, in: parent, kind: .directory) { Self.placeholder($0, changes) }
    }

    package func makeSymbolicLink(
        _ name: EntryName, in parent: InodeNumber, target: [UInt8]
    ) async throws(FileSystemError) -> Entry {
        guard target.count <= Self.longestTarget else { throw .nameTooLong }
        // Both forms that other tools read: the target as content with gcloud's mark, and gcsfuse's key.
        var custom = MetadataChanges(modified: clock.today()).applied(to: [PosixMetadata.Key.isLink: "true"])
        custom[PosixMetadata.Key.linkTarget] = String(validating: target, as: UTF8.self)
        let headers = ObjectHeaders(contentType: ContentType.unknown, custom: custom)
        return try await make(name, in: parent, kind: .symbolicLink) {
            Upload(name: $0, headers: headers, precondition: .mustNotExist, source: BytesSource(target))
        }
    }

    /// `PATH_MAX` less its NUL.
    private static let longestTarget = 4_095

    private func make(
        _ name: EntryName, in parent: InodeNumber, kind: FileAttributes.Kind, _ upload: (ObjectName) -> Upload
    ) async throws(FileSystemError) -> Entry {
        try requireWritable()
        try requireLegal(name, in: parent, kind: kind)
        try await requireAbsent(name, in: parent)
        let object = try namespace.withLock { (space) throws(FileSystemError) in
            space.objectName(name, in: try space.directory(parent).node, kind: kind)
        }
        do throws(FileSystemError) {
            let stored = try await fromStore { () async throws(StorageError) in try await store.insert(upload(object)) }
            return try addEntry(name, in: parent, kind: kind, FileRecord(stored))
        } catch {
            guard case .stale = error else { throw error }
            namespace.withLock { space in
                if let folder = try? space.node(parent) { space.expire(name, in: folder) }
            }
            throw .exists
        }
    }

    private func requireAbsent(_ name: EntryName, in parent: InodeNumber) async throws(FileSystemError) {
        guard case .found(let entry) = try await lookup(name, in: parent) else { return }
        forget(entry.inode, lookups: 1)
        throw .exists
    }

    private func addEntry(
        _ name: EntryName, in parent: InodeNumber, kind: FileAttributes.Kind, _ record: FileRecord
    ) throws(FileSystemError) -> Entry {
        let now = clock.now()
        return try namespace.withLock { (space) throws(FileSystemError) in
            let folder = try space.directory(parent).node
            if case .node(let old) = folder.directory?.child(name) { space.detach(old, as: .superseded, leaving: nil) }
            let node = space.addNode(name, in: folder, kind: kind, record: record, asOf: now)
            // Its placeholder was not there a moment ago, so nothing is below it.
            node.directory?.listedAt = now
            node.directory?.madeAt = now
            node.writtenAt = now
            folder.entriesChanged(clock.today())
            return space.entry(for: node, now: now)
        }
    }

    package func target(ofSymbolicLink inode: InodeNumber) async throws(FileSystemError) -> [UInt8] {
        let (name, record, _) = try place(of: inode)
        guard let record, record.isSymbolicLink else { throw .invalidArgument }
        if let target = record.posix.linkTarget { return Array(target.utf8) }
        return try await fromStore { () async throws(StorageError) in
            try await WholeRead.run(
                name, objectGeneration: record.objectGeneration, limit: Self.longestTarget, from: store)
        }
    }

    // MARK: Removing

    package func unlink(_ name: EntryName, in parent: InodeNumber) async throws(FileSystemError) {
        try requireWritable()
        guard case .found(let entry) = try await lookup(name, in: parent) else { throw .notFound }
        defer { forget(entry.inode, lookups: 1) }
        guard entry.attributes.kind != .directory else { throw .isADirectory }
        let contents = try contents(of: entry.inode)
        try await contents.gate.pass { () async throws(FileSystemError) in
            try await settleUnanswered(entry.inode)
            let (object, record, link) = try place(of: entry.inode)
            guard link == .attached else { throw .stale }
            contents.setLeaving(true)
            defer { contents.setLeaving(false) }
            if let record {
                try await keepFolder(parent)
                if try await !moveAside(object, record, entry.inode) {
                    try await saveBytesForHolders(of: entry.inode)
                    try await delete(object, record, entry.inode)
                }
                forgetUnsent(contents)
            } else {
                try await deleteReplaced(by: entry.inode)
            }
            unlinkHere(entry.inode)
        }
    }

    package func removeDirectory(_ name: EntryName, in parent: InodeNumber) async throws(FileSystemError) {
        try requireWritable()
        guard case .found(let entry) = try await lookup(name, in: parent) else { throw .notFound }
        defer { forget(entry.inode, lookups: 1) }
        guard entry.attributes.kind == .directory else { throw .notADirectory }
        let contents = try contents(of: entry.inode)
        try await contents.gate.pass { () async throws(FileSystemError) in
            let placeholder = try await placeholderIfEmpty(entry.inode)
            try await keepFolder(parent)
            if let placeholder { try await delete(placeholder.metadata.name, placeholder, entry.inode) }
            let folder = try place(of: entry.inode).name
            try await fromStore { () async throws(StorageError) in try await store.removeFolder(folder) }
            forgetUnsent(contents)
            unlinkHere(entry.inode)
        }
    }

    /// The placeholder of a folder that has nothing else in it.
    /// - Throws: `.directoryNotEmpty`.
    /// - Parameter asks: also where a listing that is fresh says so.
    func placeholderIfEmpty(_ inode: InodeNumber, asks: Bool = false) async throws(FileSystemError) -> FileRecord? {
        let now = clock.now()
        let (prefix, record, isKnownEmpty) = try namespace.withLock { (space) throws(FileSystemError) in
            let (node, directory) = try space.directory(inode)
            if directory.children.contains(where: { $0.value.isLocal }) { throw .directoryNotEmpty }
            let isFresh = directory.listedAt.map { space.isFresh($0, now: now) } ?? false
            return (space.objectName(of: node), node.record, isFresh && directory.count == 0)
        }
        if isKnownEmpty, !asks, let record { return record }
        let page = try await fromStore { () async throws(StorageError) in
            try await store.page(ListQuery(prefix: prefix, collapsesFolders: true, pageSize: 2))
        }
        let others = page.items.filter { $0.name != prefix }
        guard others.isEmpty, page.names.isEmpty, page.folders.isEmpty, page.nextPageToken == nil else {
            throw .directoryNotEmpty
        }
        guard !store.abilities.listsMetadata else { return page.items.first.map(FileRecord.init) }
        // Lists of names do not show placeholders.
        let placeholder = await existing { () async throws(StorageError) in try await store.metadata(of: prefix) }
        return try placeholder.get().map(FileRecord.init)
    }

    /// Deletes this generation and no other. What is gone already is as good.
    func delete(_ name: ObjectName, _ record: FileRecord, _ inode: InodeNumber) async throws(FileSystemError) {
        do throws(StorageError) {
            try await store.delete(name, if: .mustBe(record.objectGeneration))
        } catch {
            if error.kind == .notFound { return }
            if error.kind == .preconditionFailed { expire(inode) }
            throw FileSystemError(error)
        }
    }

    /// A file that was never stored, but renamed over an object, is about to lose that name. The object would have gone
    /// when the file was stored; now it goes at once, or it would be seen again.
    func deleteReplaced(by inode: InodeNumber) async throws(FileSystemError) {
        let (name, replaced) = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return (space.objectName(of: node), node.replaces)
        }
        guard let replaced else { return }
        try await delete(name, replaced, inode)
        try namespace.withLock { (space) throws(FileSystemError) in try space.node(inode).replaces = nil }
    }

    private func unlinkHere(_ inode: InodeNumber) {
        let now = clock.now()
        let (name, contents) = namespace.withLock { space -> (ObjectName, FileContents?) in
            guard let node = try? space.node(inode) else { return (ObjectName(""), nil) }
            let name = space.objectName(of: node)
            node.contents?.forgetUnsaved()
            node.parent?.entriesChanged(clock.today())
            space.detach(node, as: .unlinked, leaving: .absent(asOf: now))
            return (name, node.contents)
        }
        journaling(name) { () throws(FileSystemError) in try contents?.disown() }
    }

    func contents(of inode: InodeNumber) throws(FileSystemError) -> FileContents {
        try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            let contents = node.contents ?? FileContents()
            node.contents = contents
            return contents
        }
    }

    // MARK: Folders stay until rmdir

    /// One name is about to leave `folder`. Without a placeholder the folder would go with its last name, so it gets
    /// one first; where it is not known whether that name is the last, the folder stays for this mount, and `shutDown`
    /// sees.
    func keepFolder(_ inode: InodeNumber) async throws(FileSystemError) {
        let now = clock.now()
        let needsPlaceholder = try namespace.withLock { (space) throws(FileSystemError) in
            let (node, directory) = try space.directory(inode)
            guard node.parent != nil, node.record == nil else { return false }
            if let listedAt = directory.listedAt, space.isFresh(listedAt, now: now) { return directory.count <= 1 }
            directory.stays = true
            return false
        }
        if needsPlaceholder { try await makePlaceholder(of: inode, MetadataChanges()) }
    }

    func keepEmptiedFolders() async {
        let emptied = namespace.withLock { space in
            space.allNodes.filter { node in
                node.link == .attached && node.record == nil && node.directory?.stays == true
                    && node.directory?.count == 0
            }.map(\.number)
        }
        for inode in emptied {
            do throws(FileSystemError) {
                try await makePlaceholder(of: inode, MetadataChanges())
            } catch {
                log(.warning, "an emptied folder has no placeholder and goes with this mount: \(error)")
            }
        }
    }
}
