import Locking
import ObjectStore

/// Names and what is known of them.
extension FileSystem {
    package func lookup(_ name: EntryName, in parent: InodeNumber) async throws(FileSystemError) -> LookupResult {
        if name.bytes.count > EntryName.longest { throw .nameTooLong }
        // No other client can make an object of that spelling either.
        guard let segment = Spelling.segment(of: name) else { return .absent(validFor: configuration.metadataTTL) }
        if let known = try cachedLookup(name, in: parent, askedSince: nil) {
            if !store.abilities.listsMetadata { askAhead(of: name, in: parent) }
            return known
        }
        // An answer can be overtaken by a change of ours; that is rare, and asking again settles it.
        for _ in 0..<3 {
            let asOf = try await ask(segment, name, in: parent)
            if let known = try cachedLookup(name, in: parent, askedSince: asOf) { return known }
        }
        throw .stale
    }

    /// - Parameter isExclusive: absence must be certain, not just recent.
    func lookup(
        _ name: EntryName, in parent: InodeNumber, isExclusive: Bool
    ) async throws(FileSystemError) -> LookupResult {
        let known = try await lookup(name, in: parent)
        guard isExclusive, case .absent = known else { return known }
        let now = clock.now()
        let isSure = try namespace.withLock { (space) throws(FileSystemError) in
            try space.confirmAbsence(of: name, in: parent, now: now)
        }
        return isSure ? known : try await lookup(name, in: parent)
    }

    /// The kernel drops `lookups` references to `inode`.
    package func forget(_ inode: InodeNumber, lookups: UInt64) {
        namespace.withLock { $0.forget(inode, lookups: lookups) }
    }

    /// What is known of the node is needed, although the kernel may forget it.
    func pin(_ inode: InodeNumber) throws(FileSystemError) {
        try namespace.withLock { (space) throws(FileSystemError) in try space.node(inode).pins += 1 }
    }

    func unpin(_ inode: InodeNumber) {
        namespace.withLock { space in
            guard let node = try? space.node(inode) else { return }
            node.pins -= 1
            space.dropIfUnused(node)
        }
    }

    private func cachedLookup(
        _ name: EntryName, in parent: InodeNumber, askedSince: Instant?
    ) throws(FileSystemError) -> LookupResult? {
        let now = clock.now()
        let known = try namespace.withLock { (space) throws(FileSystemError) in
            try space.cachedLookup(name, in: parent, now: now, askedSince: askedSince)
        }
        switch known {
        case .found(let entry): return .found(entry)
        case .absent(let validFor): return .absent(validFor: validFor)
        case .unknown: return nil
        }
    }

    /// Has the bucket say what `name` is. A folder of one list page is listed whole, which answers for all its names at
    /// the price of one; in a larger one the name is asked for by itself. Answers since when the answer holds.
    func ask(
        _ segment: Spelling.Segment, _ name: EntryName, in parent: InodeNumber
    ) async throws(FileSystemError) -> Instant {
        guard store.abilities.listsMetadata else { return try await askByName(segment, name, in: parent) }
        if let startedAt = try await askByListing(segment, name, in: parent) { return startedAt }
        return try await askForOne(segment.bytes, in: parent)
    }

    /// nil: the folder is large, and what was listed of it does not answer.
    func askByListing(
        _ segment: Spelling.Segment, _ name: EntryName, in parent: InodeNumber
    ) async throws(FileSystemError) -> Instant? {
        let isLarge = try namespace.withLock { (space) throws(FileSystemError) in
            try space.directory(parent).directory.isLarge
        }
        guard !isLarge || segment.isShortened else { return nil }
        let listing = try joinListing(of: parent)
        defer { listing.leave() }
        let isAll = try await segment.isShortened ? listing.isAllThere() : listing.firstPageIsAll()
        let isAnswered = try namespace.withLock { (space) throws(FileSystemError) in
            let directory = try space.directory(parent).directory
            if !isAll { directory.isLarge = true }
            guard let child = directory.child(name) else { return false }
            return child.asOf >= listing.startedAt
        }
        return isAll || isAnswered ? listing.startedAt : nil
    }

    /// Two requests at once: is there an object of that name, is there anything below it? Both: the object has the
    /// plain name.
    private func askForOne(_ segment: [UInt8], in parent: InodeNumber) async throws(FileSystemError) -> Instant {
        let start = clock.now()
        let (plain, beside) = (Spelling.name(of: segment), Spelling.name(of: segment, isFolderBesideFile: true))
        let (file, folder) = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.directory(parent).node
            return (
                space.objectName(plain, in: node, kind: .file), space.objectName(plain, in: node, kind: .directory)
            )
        }
        async let object = existing { () async throws(StorageError) in try await self.store.metadata(of: file) }
        async let below = existing { () async throws(StorageError) in
            try await self.store.page(ListQuery(prefix: folder, collapsesFolders: false, pageSize: 1))
        }
        let (record, page) = (try await object.get().map(FileRecord.init), try await below.get())
        let placeholder = page?.items.first.flatMap { $0.name == folder ? FileRecord($0) : nil }
        let isFolder = page?.items.isEmpty == false || page?.folders.isEmpty == false
        try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.directory(parent).node
            // The folder has another name by now: nothing was asked about what is in it.
            guard space.objectName(plain, in: node, kind: .file) == file else { return }
            if let record {
                let kind: FileAttributes.Kind = record.isSymbolicLink ? .symbolicLink : .file
                space.learn(plain, in: node, kind: kind, record: record, asOf: start)
            } else {
                space.learn(plain, in: node, kind: isFolder ? .directory : nil, record: placeholder, asOf: start)
            }
            let isBeside = record != nil && isFolder
            space.learn(beside, in: node, kind: isBeside ? .directory : nil, record: placeholder, asOf: start)
        }
        return start
    }

    /// nil where the bucket says there is no such thing.
    func existing<Value: Sendable>(
        _ body: @Sendable () async throws(StorageError) -> Value
    ) async -> Result<Value?, FileSystemError> {
        do throws(StorageError) {
            return .success(try await body())
        } catch  where error.kind == .notFound {
            return .success(nil)
        } catch {
            return .failure(FileSystemError(error))
        }
    }
}
