import Locking
import ObjectStore

/// What `stat` shows, and how it is changed.
extension FileSystem {
    /// - Parameter handle: an open file that is about to be read: it goes on showing its own version, also after
    ///   another client has replaced the object.
    package func attributes(
        of inode: InodeNumber, handle: HandleID? = nil
    ) async throws(FileSystemError) -> ExpiringAttributes {
        if handle != nil, let frozen = try supersededAttributes(of: inode) { return frozen }
        if let known = try cachedAttributes(of: inode) { return known }
        let place = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return (parent: node.parent?.number ?? .root, name: node.name)
        }
        guard let segment = Spelling.segment(of: place.name) else { throw .stale }
        _ = try await ask(segment, place.name, in: place.parent)
        if handle != nil, let frozen = try supersededAttributes(of: inode) { return frozen }
        return try currentAttributes(of: inode)
    }

    private func supersededAttributes(of inode: InodeNumber) throws(FileSystemError) -> ExpiringAttributes? {
        try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            guard node.link == .superseded else { return nil }
            return ExpiringAttributes(attributes: space.attributes(of: node), validFor: .zero)
        }
    }

    /// nil: too old.
    private func cachedAttributes(of inode: InodeNumber) throws(FileSystemError) -> ExpiringAttributes? {
        let now = clock.now()
        return try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            if node.link == .superseded { throw .stale }
            let isCurrent = node.link == .unlinked || node.parent == nil || node.isLocal
            guard isCurrent || space.isFresh(node.asOf, now: now) else { return nil }
            return ExpiringAttributes(
                attributes: space.attributes(of: node), validFor: space.validity(of: node, now: now))
        }
    }

    func currentAttributes(of inode: InodeNumber) throws(FileSystemError) -> ExpiringAttributes {
        let now = clock.now()
        return try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            if node.link == .superseded { throw .stale }
            return ExpiringAttributes(
                attributes: space.attributes(of: node), validFor: space.validity(of: node, now: now))
        }
    }

    /// Truncation by path or by handle, times, permissions, owner.
    package func setAttributes(
        of inode: InodeNumber, to changes: AttributeChanges, handle: HandleID?
    ) async throws(FileSystemError) -> ExpiringAttributes {
        try requireWritable()
        if let size = changes.size { try truncate(inode, to: size) }
        let posix = PosixChanges(
            modified: changes.modified.map(moment), permissions: changes.permissions.map { $0 & 0o7777 },
            owner: changes.owner, group: changes.group)
        try await change(inode, posix)
        // Without a handle there is no close to store it at.
        if changes.size != nil, handle == nil { try await storeChanges(of: inode) }
        return try currentAttributes(of: inode)
    }

    private func moment(_ time: AttributeChanges.Time) -> Timestamp {
        switch time {
        case .now: clock.today()
        case .at(let timestamp): timestamp
        }
    }

    private func truncate(_ inode: InodeNumber, to size: Int64) throws(FileSystemError) {
        guard size >= 0 else { throw .invalidArgument }
        guard size <= Self.largestObject else { throw .tooLarge }
        let (contents, baseSize) = try openContents(of: inode)
        try contents.truncate(to: size, baseSize: baseSize, today: clock.today(), makeStagingFile)
    }

    /// 5 TiB: the service's limit of an object.
    static let largestObject: Int64 = 5 << 40

    /// The contents of a file, ready to be read and changed, and the size of the bucket's version.
    func openContents(of inode: InodeNumber) throws(FileSystemError) -> (contents: FileContents, baseSize: Int64) {
        try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            switch node.kind {
            case .directory: throw .isADirectory
            case .symbolicLink: throw .invalidArgument
            case .file: break
            }
            if node.link == .superseded || (node.link == .unlinked && node.handles == 0) { throw .stale }
            let contents = node.contents ?? FileContents()
            node.contents = contents
            guard let record = node.record else { return (contents, 0) }
            let name = space.objectName(of: node)
            let size = record.metadata.size
            contents.prepareBase(generation: record.objectGeneration) {
                ObjectContent(engine: engine, name: name, objectGeneration: record.objectGeneration, size: size)
            }
            return (contents, size)
        }
    }

    // MARK: Times, permissions, owner

    private func change(_ inode: InodeNumber, _ wanted: PosixChanges) async throws(FileSystemError) {
        let (kind, changes, contents) = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return (node.kind, wanted.without(space.attributes(of: node)), node.contents)
        }
        // What is so already costs nothing: `tar` and `cp -a` set what they find.
        guard !changes.isEmpty else { return }
        if contents?.addChangesIfDirty(changes) == true { return }
        switch kind {
        case .directory: try await changeFolder(inode, changes)
        case .file, .symbolicLink: try await patch(inode, changes)
        }
    }

    /// A change of metadata alone. Another client's change of metadata in between is merged, not overwritten.
    private func patch(_ inode: InodeNumber, _ changes: PosixChanges) async throws(FileSystemError) {
        let gate = try contents(of: inode).gate
        try await gate.pass { () async throws(FileSystemError) in
            for _ in 0..<4 {
                let (name, record, link) = try place(of: inode)
                guard link == .attached, let record else { return try changeLocally(inode, changes) }
                do throws(FileSystemError) {
                    try await patch(name, record, changes, inode)
                    return
                } catch {
                    guard case .stale = error else { throw error }
                    try await refresh(inode, name, expecting: record)
                }
            }
            throw .stale
        }
    }

    private func patch(
        _ name: ObjectName, _ record: FileRecord, _ changes: PosixChanges, _ inode: InodeNumber
    ) async throws(FileSystemError) {
        let keys = changes.keys(over: record.metadata.headers.custom)
        let patched = try await fromStore { () async throws(StorageError) in
            try await store.patch(
                name, MetadataPatch(custom: keys.mapValues { .set($0) }),
                if: .unchanged(record))
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

    private func changeLocally(_ inode: InodeNumber, _ changes: PosixChanges) throws(FileSystemError) {
        try namespace.withLock { (space) throws(FileSystemError) in
            _ = try space.node(inode).contents?.addChangesIfDirty(changes)
        }
    }

    /// A folder keeps its times and permissions in its placeholder, which is made if there is none. The root has none.
    private func changeFolder(_ inode: InodeNumber, _ changes: PosixChanges) async throws(FileSystemError) {
        let (name, record, _) = try place(of: inode)
        if inode != .root {
            if let record {
                do throws(FileSystemError) {
                    try await patch(name, record, changes, inode)
                } catch {
                    guard case .stale = error else { throw error }
                    try await refresh(inode, name, expecting: record)
                    guard let renewed = try place(of: inode).record else { throw .stale }
                    try await patch(name, renewed, changes, inode)
                }
            } else {
                try await makePlaceholder(of: inode, changes)
            }
        }
        try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            node.folderChanges = node.folderChanges.merged(with: changes)
        }
    }

    /// Stores the object that stands for a folder. One that is there already is as good.
    func makePlaceholder(of inode: InodeNumber, _ changes: PosixChanges) async throws(FileSystemError) {
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
        }
    }

    static func placeholder(_ name: ObjectName, _ changes: PosixChanges) -> Upload {
        Upload(
            name: name,
            headers: ObjectHeaders(contentType: "application/x-directory", custom: changes.applied(to: [:])),
            precondition: .mustNotExist, source: BytesSource([]))
    }

    // MARK: Where a node is

    func place(
        of inode: InodeNumber
    ) throws(FileSystemError) -> (name: ObjectName, record: FileRecord?, link: Node.Link) {
        try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return (space.objectName(of: node), node.record, node.link)
        }
    }

    /// The bucket has answered what it has of this node now.
    func didStore(_ metadata: ObjectMetadata, of inode: InodeNumber) throws(FileSystemError) {
        let now = clock.now()
        let record = FileRecord(metadata)
        try namespace.withLock { (space) throws(FileSystemError) in
            space.stored(try space.node(inode), as: record, now: now)
        }
    }

    /// Believe nothing about this node's name any more, here and in the kernel.
    func expire(_ inode: InodeNumber) {
        let place = namespace.withLock { space -> (parent: InodeNumber, name: EntryName)? in
            guard let node = try? space.node(inode), node.link == .attached, let parent = node.parent else {
                return nil
            }
            space.expire(node.name, in: parent)
            return (parent.number, node.name)
        }
        if let place { kernelCache.invalidate(place.name, in: place.parent) }
    }
}

extension PosixChanges {
    /// What is not so already.
    fileprivate func without(_ attributes: FileAttributes) -> PosixChanges {
        PosixChanges(
            modified: modified == attributes.modified ? nil : modified,
            permissions: permissions == attributes.permissions ? nil : permissions,
            owner: owner == attributes.owner ? nil : owner, group: group == attributes.group ? nil : group)
    }
}
