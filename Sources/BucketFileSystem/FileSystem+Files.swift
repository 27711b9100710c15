import Locking
import ObjectStore

/// Open files.
extension FileSystem {
    package func open(_ inode: InodeNumber, _ mode: OpenMode) async throws(FileSystemError) -> OpenedFile {
        if mode.writes { try requireWritable() }
        let leaving = try openContents(of: inode).contents
        if leaving.isLeaving {
            // Whether there is still something to open is known when the removal is done.
            await leaving.gate.enter()
            leaving.gate.leave()
        }
        if let failure = takeFailure(of: inode) { throw failure }
        let (handle, contents, baseSize) = try addHandle(inode, mode)
        do throws(FileSystemError) {
            if mode.truncates {
                try contents.truncate(to: 0, baseSize: baseSize, today: clock.today()) { () throws(FileSystemError) in
                    try makeStagingFile(of: inode)
                }
            } else if mode.reads {
                try await validate(inode, contents)
            }
        } catch {
            dropHandle(handle)
            throw error
        }
        // Once they were damaged, the kernel has been told to forget them; whether it has yet is not known here.
        return OpenedFile(handle: handle, keepsKernelPages: contents.readingRound == 0)
    }

    /// The first open of a version fetches its beginning, and the head of that answer says whether the version is still
    /// the live one: a cold small file costs one request. If it is not, the caller gets `.stale`; the kernel then looks
    /// the name up again and opens what is there now.
    private func validate(_ inode: InodeNumber, _ contents: FileContents) async throws(FileSystemError) {
        let now = clock.now()
        let isFresh = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return node.isLocal || space.isFresh(node.asOf, now: now)
        }
        guard let base = contents.unreadBase(isFresh: isFresh) else {
            if !isFresh { _ = try await attributes(of: inode) }
            return
        }
        do throws(StorageError) {
            guard base.size < configuration.largestPrefetch else {
                let live = try await store.metadata(of: base.location.name)
                guard live.objectGeneration == base.objectGeneration else {
                    throw StorageError(
                        .generationChanged, operation: "open", object: base.location.name, message: "it was replaced")
                }
                return
            }
            try await base.validateAndPrefetch()
        } catch {
            if error.kind == .generationChanged || error.kind == .notFound { expire(inode) }
            throw FileSystemError(reading: error)
        }
    }

    package func create(
        _ name: EntryName, in parent: InodeNumber, permissions: UInt16, _ mode: OpenMode, exclusively: Bool
    ) async throws(FileSystemError) -> (entry: Entry, file: OpenedFile) {
        try requireWritable()
        try requireLegal(name, in: parent, kind: .file)
        if case .found(let entry) = try await lookup(name, in: parent, isExclusive: exclusively) {
            do throws(FileSystemError) {
                if exclusively { throw .exists }
                return (entry, try await open(entry.inode, mode))
            } catch {
                forget(entry.inode, lookups: 1)
                throw error
            }
        }
        let object = try namespace.withLock { (space) throws(FileSystemError) in
            space.objectName(name, in: try space.directory(parent).node, kind: .file)
        }
        let now = clock.now()
        let usual = ObjectHeaders(contentType: ContentType.forFinalName(of: object))
        let left = vacatedNames.withLock { $0.take(object, now: now) }
        let headers = usual.renamed(from: object, to: object, replacing: left)
        let staging = try makeStagingFile(for: Journal.Place(object: object, base: .absent, headers: headers))
        let contents = FileContents()
        let today = clock.today()
        let isDefault = permissions == configuration.filePermissions
        contents.stageNew(
            staging,
            changes: MetadataChanges(
                modified: today, changed: today, permissions: isDefault ? nil : permissions,
                headers: MetadataPatch(from: usual, to: headers)))
        let entry = try namespace.withLock { (space) throws(FileSystemError) in
            let folder = try space.directory(parent).node
            if folder.directory?.child(name)?.exists == true { throw .exists }
            let node = space.addNode(name, in: folder, kind: .file, record: nil, asOf: now)
            node.contents = contents
            node.isExclusive = exclusively
            folder.entriesChanged(clock.today())
            return space.entry(for: node, now: now)
        }
        let (handle, _, _) = try addHandle(entry.inode, mode)
        return (entry, OpenedFile(handle: handle, keepsKernelPages: true))
    }

    /// Reads up to `count` bytes; fewer only at the end of the file. `completion` is called exactly once: before this
    /// returns when the bytes are in memory, else from the thread that received them.
    package func read(
        _ id: HandleID, at offset: Int64, count: Int,
        completion: @escaping @Sendable (Result<ReadBytes, FileSystemError>) -> Void
    ) {
        guard let handle = handles.withLock({ $0.files[id] }) else { return completion(.failure(.badHandle)) }
        handle.contents.read(
            offset..<offset + Int64(count), cursor: handle.cursor, round: handle.readingRound
        ) { [self] result in
            switch result {
            case .failure(.stale): expire(handle.inode)
            // Pages that were filled before are as wrong as these.
            case .failure(.storage(let error)) where error.kind == .corrupted: kernelCache.invalidate(handle.inode)
            case .success, .failure: break
            }
            completion(result)
        }
    }

    /// Stages `bytes`. Always takes all of them.
    /// - Parameter appends: write at the end, wherever that is now (`O_APPEND`).
    package func write(
        _ id: HandleID, at offset: Int64, _ bytes: UnsafeRawBufferPointer, appends: Bool
    ) throws(FileSystemError) {
        let handle = try fileHandle(id)
        guard handle.mode.writes else { throw .badHandle }
        guard offset + Int64(bytes.count) <= Self.largestObject else { throw .tooLarge }
        let baseSize = handle.contents.isStaged ? 0 : try openContents(of: handle.inode).baseSize
        try unsafe handle.contents.write(
            bytes, at: offset, appends: appends, baseSize: baseSize, today: clock.today()
        ) { () throws(FileSystemError) in try makeStagingFile(of: handle.inode) }
        streamIfDue(handle.inode, handle.contents)
    }

    /// A close is passing by; answers once the bucket has the bytes. May come often for one handle.
    ///
    /// A shell that runs `echo x >file` opens the file, duplicates the descriptor and closes the first, before any byte
    /// is written. To store the empty file then would cost a request and show other clients an emptied object; the
    /// close of the duplicate comes by here too.
    /// - Parameter callerHoldsAnother: whether the closing process has the file of this number open for writing
    ///   still. Asked only about files that are empty and not written to.
    package func flush(
        _ id: HandleID, callerHoldsAnother: (_ fileNumber: UInt64) -> Bool = { _ in false }
    ) async throws(FileSystemError) {
        let handle = try fileHandle(id)
        guard handle.mode.writes else { return }
        if handle.contents.isEmptyAndUnwritten, callerHoldsAnother(try fileNumber(of: handle.inode)) { return }
        try await storeAtClose(handle.inode)
    }

    package func synchronize(_ id: HandleID) async throws(FileSystemError) {
        let handle = try fileHandle(id)
        try await storeChanges(of: handle.inode)
        try await sendChanges(of: handle.inode)
        if let failure = handle.contents.takeFailureToSend() { throw failure }
    }

    /// Comes once per handle, after the last close. Bytes that came after it (a mapped file's pages) are stored now;
    /// nobody is left to tell of a failure, so it goes to the log and the bytes are kept.
    package func release(_ id: HandleID) {
        guard let handle = handles.withLock({ $0.files[id] }) else { return }
        handle.cursor.close()
        guard handle.mode.writes, handle.contents.isDirty, !handle.contents.isSealed else { return dropHandle(id) }
        afterwork.start { [self] in
            do throws(FileSystemError) {
                if handle.contents.isGivenUp { throw .givenUp }
                try await storeAtClose(handle.inode)
            } catch {
                if isLastHandle(of: handle.inode) { _ = keepUnsaved(handle.inode, because: error) }
            }
            dropHandle(id)
        }
    }

    private func fileNumber(of inode: InodeNumber) throws(FileSystemError) -> UInt64 {
        try namespace.withLock { (space) throws(FileSystemError) in try space.node(inode).fileNumber }
    }

    // MARK: Handles

    private func addHandle(
        _ inode: InodeNumber, _ mode: OpenMode
    ) throws(FileSystemError) -> (HandleID, contents: FileContents, baseSize: Int64) {
        let (contents, baseSize) = try openContents(of: inode, isHeld: true)
        let id = HandleID(nextNumber())
        let handle = FileHandle(inode: inode, contents: contents, mode: mode)
        handles.withLock { $0.files[id] = handle }
        return (id, contents, baseSize)
    }

    private func dropHandle(_ id: HandleID) {
        guard let handle = handles.withLock({ $0.files.removeValue(forKey: id) }) else { return }
        letGo(handle.inode)
    }

    /// One who held the file's content leaves it.
    func letGo(_ inode: InodeNumber) {
        let (isLast, kept, staged) = namespace.withLock { space -> (Bool, ObjectMetadata?, StagedEntry?) in
            guard let node = try? space.node(inode) else { return (false, nil, nil) }
            node.handles -= 1
            defer { space.dropIfUnused(node) }
            // Stored bytes are read from the bucket again; the staging disk is for unsaved ones.
            guard node.handles == 0 else { return (false, nil, nil) }
            return (true, node.keptObject.take(), node.contents?.dropStagedIfClean())
        }
        disown(staged)
        if isLast { endCopying(to: inode) }
        if let kept { afterwork.start { [self] in await removeKept(kept) } }
    }

    /// The staging file goes, and with it what the journal says of it.
    func disown(_ entry: StagedEntry?) {
        journaling(ObjectName("")) { () throws(FileSystemError) in try entry?.disown() }
    }

    private func isLastHandle(of inode: InodeNumber) -> Bool {
        namespace.withLock { (try? $0.node(inode).handles) ?? 0 } <= 1
    }
}
