import Locking
import Logging
import ObjectStore

/// How unsaved bytes become objects.
extension FileSystem {
    /// Stores what is unsaved of a file, whole; answers once the bucket has it. Failed, it stays unsaved, and the next
    /// call tries again.
    /// - Parameter sealedOnly: what was changed since the last close stays for the next.
    func storeChanges(of inode: InodeNumber, sealedOnly: Bool = false) async throws(FileSystemError) {
        guard let contents = try? namespace.withLock({ try $0.node(inode).contents }) else { return }
        if !contents.isDirty, !sealedOnly, let failure = contents.takeFailure() { throw failure }
        guard contents.isDirty else { return }
        try await contents.gate.pass { () async throws(FileSystemError) in
            // Another caller may have stored it meanwhile. What is written from here on is the next call's.
            if contents.isDirty, !sealedOnly || contents.hasSealed {
                try await store(contents, of: inode, sealedOnly: sealedOnly)
            }
        }
    }

    /// Call it with the file's gate passed.
    func store(
        _ contents: FileContents, of inode: InodeNumber, sealedOnly: Bool = false
    ) async throws(FileSystemError) {
        do throws(FileSystemError) {
            try await storeMerging(contents, of: inode, sealedOnly: sealedOnly)
        } catch {
            let isExclusive = try namespace.withLock { (space) throws(FileSystemError) in
                try space.node(inode).isExclusive
            }
            if case .stale = error, isExclusive { throw .exists }
            throw error
        }
    }

    /// What others changed of the metadata alone is merged.
    private func storeMerging(
        _ contents: FileContents, of inode: InodeNumber, sealedOnly: Bool
    ) async throws(FileSystemError) {
        try await saveBytesForCopies(of: inode)
        for attempt in 0..<4 {
            let (name, record, link) = try place(of: inode)
            guard link != .unlinked else { return forgetRemoved(contents, name) }
            do throws(FileSystemError) {
                return try await storeOnce(contents, of: inode, as: name, over: record, sealedOnly: sealedOnly)
            } catch {
                guard case .stale = error, attempt < 3 else { throw error }
                if try await adoptUnanswered(contents, of: inode, name, over: record) { continue }
                // Only the metadata was changed by another client: that is merged, not undone.
                guard let record else {
                    try await refreshReplaced(by: inode, name)
                    continue
                }
                try await refresh(inode, name, expecting: record)
            }
        }
    }

    /// A file that was never stored is to take the place of an object: its metadata anew.
    private func refreshReplaced(by inode: InodeNumber, _ name: ObjectName) async throws(FileSystemError) {
        let replaced = try namespace.withLock { (space) throws(FileSystemError) in try space.node(inode).replaces }
        guard let replaced else { throw .stale }
        let answer = await existing { () async throws(StorageError) in try await self.store.metadata(of: name) }
        guard let now = try answer.get(), now.objectGeneration == replaced.objectGeneration else { throw .stale }
        try namespace.withLock { (space) throws(FileSystemError) in
            try space.node(inode).replaces = FileRecord(now)
        }
    }

    /// The file has lost its name. A write that came at that moment may have been written down after all.
    func forgetRemoved(_ contents: FileContents, _ name: ObjectName) {
        contents.forgetUnsaved()
        journaling(name) { () throws(FileSystemError) in try contents.disown() }
    }

    /// An upload whose answer was lost may have made the version that is in the way now: then that is what the file is
    /// based on. Otherwise our own success would be a conflict, for who tries again after an outage.
    private func adoptUnanswered(
        _ contents: FileContents, of inode: InodeNumber, _ name: ObjectName, over record: FileRecord?
    ) async throws(FileSystemError) -> Bool {
        let sent = contents.unanswered
        if sent.isEmpty { return false }
        let answer = await existing { () async throws(StorageError) in try await self.store.metadata(of: name) }
        guard let found = try answer.get(), found.objectGeneration != record?.objectGeneration,
            sent.contains(where: { $0.isThat(of: found) })
        else { return false }
        log(.info, "\(name): the upload that seemed to fail has succeeded")
        contents.forgetUnanswered()
        try didStore(found, of: inode)
        return true
    }

    /// The object is about to be removed or renamed: what an upload has made of it without our knowing must go along.
    /// Call it with the file's gate passed.
    func settleUnanswered(_ inode: InodeNumber) async throws(FileSystemError) {
        let contents = try contents(of: inode)
        let (name, record, link) = try place(of: inode)
        guard link == .attached else { return }
        _ = try await adoptUnanswered(contents, of: inode, name, over: record)
    }

    private func storeOnce(
        _ contents: FileContents, of inode: InodeNumber, as name: ObjectName, over record: FileRecord?,
        sealedOnly: Bool
    ) async throws(FileSystemError) {
        if sealedOnly || contents.isSealed {
            if try await storeSealed(contents, of: inode, as: name, over: record) || sealedOnly { return }
        }
        if let error = contents.spoiled { throw error }
        if try await storeOnServer(contents, of: inode, as: name, over: record) { return }
        do throws(FileSystemError) {
            guard let snapshot = contents.snapshot() else { return contents.forgetUnsaved() }
            // It was closed meanwhile.
            if snapshot.isFrozen {
                return try await storeOnce(contents, of: inode, as: name, over: record, sealedOnly: false)
            }
            try await store(snapshot, contents, of: inode, as: name, over: record)
        } catch {
            guard case .staging = error, contents.isDirty, !contents.isSealed else { throw error }
            // The copy is to have all of the file.
            if let snapshot = contents.snapshot() {
                try await fill(contents, snapshot, of: record)
            }
            // Written while it was being sent. A copy holds still.
            let copy = try makeStagingFile()
            guard let snapshot = try contents.frozenCopy(into: copy) else { return }
            try await store(snapshot, contents, of: inode, as: name, over: record)
        }
    }

    /// False: nothing is sealed.
    private func storeSealed(
        _ contents: FileContents, of inode: InodeNumber, as name: ObjectName, over record: FileRecord?
    ) async throws(FileSystemError) -> Bool {
        guard let snapshot = contents.beginStoringSealed() else { return false }
        do throws(FileSystemError) {
            try await store(snapshot, contents, of: inode, as: name, over: record)
            return true
        } catch {
            journaling(name) { () throws(FileSystemError) in try contents.didFailToStoreSealed(snapshot) }
            throw error
        }
    }

    private func store(
        _ snapshot: FileContents.Snapshot, _ contents: FileContents, of inode: InodeNumber, as name: ObjectName,
        over record: FileRecord?
    ) async throws(FileSystemError) {
        try await fill(contents, snapshot, of: record)
        let checksum = try await onStagingQueue { () throws(FileSystemError) in
            if let known = snapshot.checksum { return known }
            return try snapshot.file.checksum(size: snapshot.size)
        }
        let replaced = try namespace.withLock { (space) throws(FileSystemError) in try space.node(inode).replaces }
        let headers = headers(for: name, over: record, snapshot.changes)
        // A new file must not be there yet, unless it was renamed over an object that we know.
        let base = JournalEntry.Base(record ?? replaced)
        let upload = Upload(
            name: name, headers: headers, precondition: base.precondition,
            source: StagedSource(contents: contents, snapshot: snapshot, crc32c: checksum, isFrozen: snapshot.isFrozen))
        if !snapshot.isFrozen {
            let changes = MetadataPatch(from: record?.metadata.headers ?? ObjectHeaders(), to: headers)
            let place = Journal.Place(object: name, base: base, headers: headers)
            journaling(name) { () throws(FileSystemError) in
                try contents.seal(
                    snapshot,
                    StagedEntry.Seal(place: place, changes: changes, size: snapshot.size, checksum: checksum))
            }
        }
        do throws(FileSystemError) {
            let stored = try await send(upload, of: contents, mayStream: contents.isCurrent(snapshot))
            // First: content that is clean is what its record says.
            try learn(stored, of: inode)
            journaling(name) { () throws(FileSystemError) in
                try contents.didStore(snapshot, as: Journal.Place(stored))
            }
            try settleChanges(of: inode, contents)
        } catch {
            if case .storage = error { contents.mayHaveStored(SentContent(size: snapshot.size, crc32c: checksum)) }
            throw error.asFailureToStore
        }
    }

    /// What other clients set stays; the type of a new object goes by its name.
    func headers(
        for name: ObjectName, over record: FileRecord?, _ changes: MetadataChanges
    ) -> ObjectHeaders {
        let headers = record?.metadata.headers ?? ObjectHeaders(contentType: ContentType.forFinalName(of: name))
        return changes.applied(to: headers)
    }

    // MARK: The journal

    /// What the bucket has of a file, or will have.
    func journalPlace(of inode: InodeNumber) throws(FileSystemError) -> Journal.Place {
        let (name, record, replaced, changes) = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            let changes = node.contents?.localAttributes.changes ?? MetadataChanges()
            return (space.objectName(of: node), node.record, node.replaces, changes)
        }
        return Journal.Place(
            object: name, base: JournalEntry.Base(record ?? replaced),
            headers: headers(for: name, over: record, changes))
    }

    /// The journal follows a file, or all files below a folder, to another name.
    /// - Parameter replaced: what had the name.
    func journalMove(of inode: InodeNumber, replacing replaced: FileContents? = nil) {
        let moved = namespace.withLock { space -> [(InodeNumber, FileContents)] in
            guard let node = try? space.node(inode) else { return [] }
            var found = node.contents.map { [(node.number, $0)] } ?? []
            space.visit(below: node) { node in
                if let contents = node.contents { found.append((node.number, contents)) }
            }
            return found
        }
        if moved.isEmpty, let replaced {
            journaling(ObjectName("")) { () throws(FileSystemError) in try replaced.disown() }
        }
        for (inode, contents) in moved {
            guard let place = try? journalPlace(of: inode) else { continue }
            journaling(place.object) { () throws(FileSystemError) in
                try contents.journalMove(to: place, replacing: replaced)
            }
        }
    }

    /// Writes down what is done already, and what an upload that succeeds makes superfluous: no reason to fail for.
    func journaling(_ name: ObjectName, _ body: () throws(FileSystemError) -> Void) {
        do throws(FileSystemError) { try body() } catch {
            log(.error, "\(name): the journal could not be written, and will tell less than is true: \(error.words)")
        }
    }

    /// Nobody is left who could be told: the journal keeps the bytes, and the log says how to get them. Answers the
    /// object's name.
    func keepUnsaved(_ inode: InodeNumber, because error: FileSystemError) -> ObjectName {
        expire(inode)
        let (name, contents) = namespace.withLock { space -> (ObjectName, FileContents?) in
            guard let node = try? space.node(inode) else { return (ObjectName(""), nil) }
            let name = space.objectName(of: node)
            let contents = node.contents
            // The kernel's pages hold the unsaved bytes: what the bucket has needs a new inode.
            space.detach(node, as: .superseded, leaving: nil)
            node.parent?.directory?.listedAt = nil
            return (name, contents)
        }
        let state = error.keptState(wasClosed: contents?.isSealed == true)
        do throws(FileSystemError) {
            if let cause = contents?.spoiled {
                // The caller was told at the write and at the close. A part of the file is of no use to anyone.
                try contents?.dropUnsaved()
                log(.error, "\(name) was not stored, as it could not be written: \(cause.words)")
            } else if let kept = try contents?.keepUnsaved(as: state, because: error.words) {
                log(
                    .error,
                    "\(name) could not be stored (\(error.words)); it is kept: \(JournalEntry.waysOut(kept, state))")
            }
        } catch {
            log(.error, "\(name) could not be stored, and its bytes could not be kept: \(error)")
        }
        return name
    }
}

extension Precondition {
    /// Neither content nor metadata were changed since.
    static func unchanged(_ record: FileRecord) -> Precondition {
        Precondition(object: .mustBe(record.objectGeneration), metageneration: record.metadata.metageneration)
    }
}

extension Journal.Place {
    /// Where the bucket has it now.
    init(_ metadata: ObjectMetadata) {
        self.init(
            object: metadata.name, base: .generation(metadata.objectGeneration, metadata.metageneration),
            headers: metadata.headers)
    }
}

extension FileSystemError {
    /// What becomes of content that could not be stored because of this.
    /// - Parameter wasClosed: the caller believes that it is stored, so the next mount tries again.
    func keptState(wasClosed: Bool) -> JournalEntry.State {
        switch self {
        case .stale, .exists: .conflict
        default: wasClosed && mayPass ? .sealed : .failed
        }
    }

    /// For the log and the journal.
    package var words: String {
        switch self {
        case .stale: "the bucket has a version that was stored meanwhile"
        case .exists: "the bucket has an object of that name"
        case .storage(let error): "\(error)"
        case .staging(let text): text
        case .noSpace: "no space is left for staged bytes"
        case .notFound: "there is no such entry"
        case .invalidArgument: "it is a change of metadata alone"
        default: "\(self)"
        }
    }

    /// Nothing that an upload needs can be missing but the bucket: "no such file" would be a lie to whoever closes one.
    var asFailureToStore: FileSystemError {
        guard case .storage(let error) = self else { return self }
        return .storage(error.withoutBucket)
    }
}
