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
        let now = clock.today()
        try await change(
            inode,
            MetadataChanges(
                modified: changes.modified?.moment(now: now), accessed: changes.accessed?.moment(now: now),
                permissions: changes.permissions.map { $0 & 0o7777 }, owner: changes.owner, group: changes.group))
        // Without a handle there is no close to store it at.
        if changes.size != nil, handle == nil { try await storeAtClose(inode) }
        return try currentAttributes(of: inode)
    }

    private func truncate(_ inode: InodeNumber, to size: Int64) throws(FileSystemError) {
        guard size >= 0 else { throw .invalidArgument }
        guard size <= Self.largestObject else { throw .tooLarge }
        let (contents, baseSize) = try openContents(of: inode, isHeld: true)
        defer { letGo(inode) }
        try contents.truncate(to: size, baseSize: baseSize, today: clock.today()) { () throws(FileSystemError) in
            try makeStagingFile(of: inode)
        }
    }

    /// 5 TiB: the service's limit of an object.
    static let largestObject: Int64 = 5 << 40

    /// The contents of a file, ready to be read and changed, and the size of the bucket's version.
    /// - Parameter isHeld: counts as a handle from now on: what is staged is not dropped between this and what follows.
    func openContents(
        of inode: InodeNumber, isHeld: Bool = false
    ) throws(FileSystemError) -> (contents: FileContents, baseSize: Int64) {
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
            if isHeld { node.handles += 1 }
            guard let record = node.record else { return (contents, 0) }
            let name = space.objectName(of: node)
            let (size, crc32c) = (record.metadata.size, record.metadata.crc32c)
            contents.prepareBase(generation: record.objectGeneration) {
                ObjectContent(
                    engine: engine, name: name, objectGeneration: record.objectGeneration, size: size, crc32c: crc32c)
            }
            return (contents, size)
        }
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

    /// The bucket has answered what it has of this node now, which is not what is unsaved of it.
    func didStore(_ metadata: ObjectMetadata, of inode: InodeNumber) throws(FileSystemError) {
        guard let contents = try learn(metadata, of: inode), contents.isStaged else { return }
        journaling(metadata.name) { () throws(FileSystemError) in
            try contents.journalMove(to: Journal.Place(metadata))
        }
    }

    /// What the bucket has of this node now. Answers what is here of it.
    @discardableResult
    func learn(_ metadata: ObjectMetadata, of inode: InodeNumber) throws(FileSystemError) -> FileContents? {
        let now = clock.now()
        let record = FileRecord(metadata)
        return try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            space.stored(node, as: record, now: now)
            return node.contents
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

extension AttributeChanges.Time {
    fileprivate func moment(now: Timestamp) -> Timestamp {
        switch self {
        case .now: now
        case .at(let timestamp): timestamp
        }
    }
}
