import Locking
import Logging
import ObjectStore

/// Reading folders.
extension FileSystem {
    package func openDirectory(_ inode: InodeNumber) async throws(FileSystemError) -> HandleID {
        try namespace.withLock { (space) throws(FileSystemError) in
            try space.directory(inode).node.handles += 1
        }
        let id = HandleID(nextNumber())
        handles.withLock { $0.directories[id] = DirectoryHandle(inode: inode) }
        return id
    }

    /// Each change of names was in the bucket before it was answered; the folder's own times and modes may wait.
    package func synchronizeDirectory(_ id: HandleID) async throws(FileSystemError) {
        guard let handle = handles.withLock({ $0.directories[id] }) else { throw .badHandle }
        try await sendChanges(of: handle.inode)
        let contents = try namespace.withLock { (space) throws(FileSystemError) in try space.node(handle.inode).contents
        }
        if let failure = contents?.takeFailureToSend() { throw failure }
    }

    package func releaseDirectory(_ id: HandleID) {
        guard let handle = handles.withLock({ $0.directories.removeValue(forKey: id) }) else { return }
        handle.leaveListing()
        namespace.withLock { space in
            guard let node = try? space.node(handle.inode) else { return }
            node.handles -= 1
            space.dropIfUnused(node)
        }
    }

    /// Hands entries after `cookie` (0: from the start, `.` and `..` included) to `body` until it returns false (buffer
    /// full: that entry was not taken) or the directory ends. Cookies are stable as long as the handle is open.
    /// - Parameter withAttributes: readdirplus: each taken entry other than `.` and `..` carries an inode and counts as
    ///   one lookup of it.
    package func readDirectory(
        _ id: HandleID, after cookie: UInt64, withAttributes: Bool,
        _ body: @Sendable (borrowing DirectoryEntry) -> Bool
    ) async throws(FileSystemError) {
        guard let handle = handles.withLock({ $0.directories[id] }) else { throw .badHandle }
        if cookie == 0 { try begin(handle) }
        var next = cookie
        while next < Self.dotEntries.count {
            let number = try fileNumber(ofDot: Int(next), in: handle.inode)
            let entry = DirectoryEntry(
                name: Self.dotEntries[Int(next)], kind: .directory, fileNumber: number, cookie: next + 1, entry: nil)
            guard body(entry) else { return }
            next += 1
        }
        var hasHandedOut = false
        while true {
            let index = Int(next) - Self.dotEntries.count
            // What there is goes out before more is waited for: the first entries of a large folder come at once.
            guard let names = try await names(of: handle, from: index, waiting: !hasHandedOut), !names.isEmpty else {
                return
            }
            for name in names {
                next += 1
                guard let entry = try entry(name, in: handle.inode, cookie: next, withAttributes: withAttributes) else {
                    continue
                }
                guard body(entry) else {
                    if let taken = entry.entry { forget(taken.inode, lookups: 1) }
                    return
                }
                hasHandedOut = true
            }
        }
    }

    private static let dotEntries = [EntryName("."), EntryName("..")]

    private func fileNumber(ofDot index: Int, in inode: InodeNumber) throws(FileSystemError) -> UInt64 {
        try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return index == 0 ? node.fileNumber : (node.parent ?? node).fileNumber
        }
    }

    /// At the start, and again when a program rewinds: what is known and fresh, else a listing.
    private func begin(_ handle: DirectoryHandle) throws(FileSystemError) {
        handle.leaveListing()
        let now = clock.now()
        let cached = try namespace.withLock { (space) throws(FileSystemError) in
            space.cachedNames(of: try space.node(handle.inode), now: now)
        }
        let listing = cached == nil ? try joinListing(of: handle.inode) : nil
        handle.state.withLock { state in
            state.names = cached ?? []
            state.listing = listing
        }
    }

    /// Names from `index` on; empty at the end; nil when some are still to come and the caller does not wait.
    private func names(
        of handle: DirectoryHandle, from index: Int, waiting: Bool
    ) async throws(FileSystemError) -> [EntryName]? {
        let (names, listing) = handle.state.withLock { ($0.names.dropFirst(index), $0.listing) }
        guard names.isEmpty, let listing else { return Array(names) }
        guard waiting || listing.hasNames(from: index) else { return nil }
        let more = try await listing.names(from: index)
        handle.state.withLock { state in
            if state.names.count == index { state.names += more }
        }
        return more
    }

    /// nil: the name is gone meanwhile.
    private func entry(
        _ name: EntryName, in parent: InodeNumber, cookie: UInt64, withAttributes: Bool
    ) throws(FileSystemError) -> DirectoryEntry? {
        let now = clock.now()
        return try namespace.withLock { (space) throws(FileSystemError) in
            let folder = try space.node(parent)
            guard let child = folder.directory?.child(name), child.exists else { return nil }
            if withAttributes, let node = space.nodeOfChild(name, in: folder) {
                let entry = space.entry(for: node, now: now)
                return DirectoryEntry(
                    name: name, kind: node.kind, fileNumber: node.fileNumber, cookie: cookie, entry: entry)
            }
            let (kind, number) = space.listed(name, child, in: folder)
            return DirectoryEntry(name: name, kind: kind, fileNumber: number, cookie: cookie, entry: nil)
        }
    }

    // MARK: Listings

    /// The folder's listing under way, or a new one; the caller must `leave` it.
    func joinListing(of inode: InodeNumber) throws(FileSystemError) -> Listing {
        let now = clock.now()
        let (listing, isNew) = try namespace.withLock { (space) throws(FileSystemError) in
            let (node, directory) = try space.directory(inode)
            if let listing = directory.listing, !listing.isAbandoned {
                listing.join()
                return (listing, false)
            }
            let listing = Listing(startedAt: now)
            listing.join()
            directory.listing = listing
            node.handles += 1
            return (listing, true)
        }
        if isNew { listing.run { await self.fetchAll($0, of: inode) } }
        return listing
    }

    /// One run over the pages of a folder, which holds as long as the folder has the name that it began with.
    private struct ListingRun {
        let prefix: ObjectName
        let startedAt: Instant
        var seen: Set<EntryName> = []
        var pages = 0
    }

    /// Asks for page after page and makes entries of them, before the names are handed out. A folder that is renamed
    /// meanwhile is asked for anew: under its old name it seems to lose what is in it.
    private func fetchAll(_ listing: Listing, of inode: InodeNumber) async -> Result<Void, FileSystemError> {
        defer { endListing(listing, of: inode) }
        var handedOut: Set<EntryName> = []
        do throws(FileSystemError) {
            while true {
                var run = ListingRun(prefix: try place(of: inode).name, startedAt: clock.now())
                if try await fetchAll(listing, of: inode, &run, except: handedOut) { return .success(()) }
                handedOut.formUnion(run.seen)
            }
        } catch {
            return .failure(error)
        }
    }

    /// False: the folder was renamed.
    /// - Parameter handedOut: names that are not to be handed out again.
    private func fetchAll(
        _ listing: Listing, of inode: InodeNumber, _ run: inout ListingRun, except handedOut: Set<EntryName>
    ) async throws(FileSystemError) -> Bool {
        var query = ListQuery(prefix: run.prefix, collapsesFolders: true, pageSize: configuration.listPageSize)
        repeat {
            let asked = clock.now()
            let page = try await fromStore { () async throws(StorageError) in try await store.page(query) }
            guard let names = try take(page, of: inode, &run, asked: asked) else { return false }
            listing.append(names.filter { !handedOut.contains($0) }, hasMore: page.nextPageToken != nil)
            query.pageToken = page.nextPageToken
        } while query.pageToken != nil
        guard let ours = try complete(run, of: inode) else { return false }
        if !ours.isEmpty { listing.append(ours.filter { !handedOut.contains($0) }, hasMore: false) }
        return true
    }

    /// nil: the folder was renamed.
    private func take(
        _ page: ListPage, of inode: InodeNumber, _ run: inout ListingRun, asked: Instant
    ) throws(FileSystemError) -> [EntryName]? {
        run.pages += 1
        return try namespace.withLock { (space) throws(FileSystemError) in
            let folder = try space.node(inode)
            guard space.objectName(of: folder) == run.prefix else { return nil }
            return store.abilities.listsMetadata
                ? space.merge(page, into: folder, prefix: run.prefix, seen: &run.seen, asOf: asked)
                : space.mergeNames(page, into: folder, prefix: run.prefix, seen: &run.seen, asOf: asked)
        }
    }

    /// nil: the folder was renamed.
    private func complete(_ run: ListingRun, of inode: InodeNumber) throws(FileSystemError) -> [EntryName]? {
        try namespace.withLock { (space) throws(FileSystemError) in
            let folder = try space.node(inode)
            guard space.objectName(of: folder) == run.prefix else { return nil }
            return space.endListing(of: folder, seen: run.seen, startedAt: run.startedAt, pages: run.pages)
        }
    }

    private func endListing(_ listing: Listing, of inode: InodeNumber) {
        namespace.withLock { space in
            guard let node = try? space.node(inode) else { return }
            if node.directory?.listing === listing { node.directory?.listing = nil }
            node.handles -= 1
            space.dropIfUnused(node)
        }
    }
}
