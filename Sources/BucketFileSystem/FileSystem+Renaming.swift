import Locking
import ObjectStore

/// Renaming files, and what renaming has in common.
extension FileSystem {
    /// - Parameter replaces: false is `RENAME_NOREPLACE`: fails with `.exists`.
    package func rename(
        _ name: EntryName, in parent: InodeNumber, to newName: EntryName, in newParent: InodeNumber, replaces: Bool
    ) async throws(FileSystemError) {
        try requireWritable()
        guard case .found(let source) = try await lookup(name, in: parent) else { throw .notFound }
        defer { forget(source.inode, lookups: 1) }
        try requireLegal(newName, in: newParent, kind: source.attributes.kind)
        var target: Entry?
        if case .found(let entry) = try await lookup(newName, in: newParent) { target = entry }
        defer { if let target { forget(target.inode, lookups: 1) } }
        if target != nil, !replaces { throw .exists }
        if target?.inode == source.inode { return }
        let rename = Rename(
            source: source.inode, target: target?.inode, parent: parent, newName: newName, newParent: newParent)
        if source.attributes.kind == .directory {
            if let target, target.attributes.kind != .directory { throw .notADirectory }
            try await renameFolder(rename)
        } else {
            if target?.attributes.kind == .directory { throw .isADirectory }
            try await renameFile(rename)
        }
    }

    /// Who goes where.
    struct Rename: Sendable {
        let source: InodeNumber
        let target: InodeNumber?
        let parent: InodeNumber
        let newName: EntryName
        let newParent: InodeNumber
    }

    private func renameFile(_ rename: Rename) async throws(FileSystemError) {
        let gates = try ([rename.source] + [rename.target].compactMap { $0 }).sorted { $0.rawValue < $1.rawValue }
            .map { (inode) throws(FileSystemError) in try contents(of: inode).gate }
        try await pass(gates) { () async throws(FileSystemError) in
            for inode in [rename.source, rename.target] { if let inode { try await settleUnanswered(inode) } }
            try await storeSealed(rename.source)
            let (object, record, link) = try place(of: rename.source)
            guard link == .attached else { throw .stale }
            try contents(of: rename.source).abandonStream()
            let target = try rename.target.map { (inode) throws(FileSystemError) in try contents(of: inode) }
            target?.setLeaving(true)
            defer { target?.setLeaving(false) }
            if let target = rename.target {
                let (name, old, _) = try place(of: target)
                var isKept = false
                if let old { isKept = try await copyAside(name, old, target) }
                if !isKept { try await saveBytesForHolders(of: target) }
            }
            try await keepFolder(rename.parent)
            let left = try headersAwaiting(rename, from: object)
            guard let record else {
                try await deleteReplaced(by: rename.source)
                try replaceWhenStored(rename, left)
                if let target { forgetUnsent(target) }
                try relink(rename)
                return resealChanges(of: rename.source, try contents(of: rename.source))
            }
            let moved = try await move(object, record, rename)
            if let target { forgetUnsent(target) }
            try relink(rename)
            await settle(moved, movedFrom: record, replacing: left, try contents(of: rename.source), rename.source)
        }
    }

    /// What was closed, and has a version in the bucket, is stored before that is moved: after a crash in between it
    /// would not be found where its changes belong.
    private func storeSealed(_ inode: InodeNumber) async throws(FileSystemError) {
        let contents = try contents(of: inode)
        guard contents.hasSealed, try place(of: inode).record != nil else { return }
        try await store(contents, of: inode, sealedOnly: true)
    }

    /// Through all of `gates`, which are in the order every renaming takes them.
    func pass(
        _ gates: [AsyncGate], _ body: () async throws(FileSystemError) -> Void
    ) async throws(FileSystemError) {
        for gate in gates { await gate.enter() }
        defer { for gate in gates { gate.leave() } }
        try await body()
    }

    private func move(_ object: ObjectName, _ record: FileRecord, _ rename: Rename) async throws(FileSystemError)
        -> ObjectMetadata
    {
        let (destination, targetRecord) = try destination(of: rename, kind: .file)
        let copy = ObjectCopy(
            source: object, sourceGeneration: record.objectGeneration, destination: destination,
            precondition: targetRecord.map { .mustBe($0.objectGeneration) } ?? .mustNotExist)
        do throws(FileSystemError) {
            let moved = try await fromStore { () async throws(StorageError) in try await store.move(copy) }
            try contents(of: rename.source).relocate(to: destination, objectGeneration: moved.objectGeneration)
            try didStore(moved, of: rename.source)
            return moved
        } catch {
            expire(rename.source)
            if let target = rename.target { expire(target) }
            throw error
        }
    }

    /// What is set on whatever the new name has, or had a moment ago; that, if the moved file has nothing of its own
    /// which it could be mixed with. Remembers what the old name had: if the renaming fails it does no harm.
    private func headersAwaiting(_ rename: Rename, from object: ObjectName) throws(FileSystemError) -> ObjectHeaders? {
        let now = clock.now()
        let own = try headersLeft(by: rename.source)
        defer { vacatedNames.withLock { $0.leave(object, own, now: now) } }
        if let target = rename.target { return try headersLeft(by: target) }
        let (name, _) = try destination(of: rename, kind: .file)
        return own.isPlain(under: object) ? vacatedNames.withLock { $0.take(name, now: now) } : nil
    }

    /// What was set on a file that is about to be replaced, sent or not. A link's type says nothing of a file.
    private func headersLeft(by inode: InodeNumber) throws(FileSystemError) -> ObjectHeaders {
        var headers = try shownHeaders(of: inode)
        if try place(of: inode).record?.isSymbolicLink == true { headers.contentType = nil }
        return headers
    }

    /// Has the moved object carry what it should under its new name, and what waited to be changed of it. The object
    /// has moved whatever comes of this, so a failure only leaves it waiting.
    private func settle(
        _ moved: ObjectMetadata, movedFrom record: FileRecord, replacing left: ObjectHeaders?,
        _ contents: FileContents, _ inode: InodeNumber
    ) async {
        let old = record.metadata.name
        let kept = moved.headers.keepingTime(of: record)
        let shown = contents.localAttributes.changes.applied(to: kept)
        let settled = shown.renamed(from: old, to: moved.name, replacing: left)
        let rest = MetadataChanges(headers: MetadataPatch(from: shown, to: settled))
        let waiting = contents.unsentChanges
        defer { forgetNote(of: contents) }
        let isUploadDue = addToUpload(rest, typedAs: settled, of: inode, contents)
        let headers = isUploadDue ? kept.renamed(from: old, to: moved.name, replacing: left) : settled
        let patch = MetadataPatch(from: moved.headers, to: headers)
        if patch.isEmpty {
            if let waiting { contents.didSend(waiting) }
            return
        }
        do throws(FileSystemError) {
            let patched = try await fromStore { () async throws(StorageError) in
                let precondition = Precondition(
                    object: .mustBe(moved.objectGeneration), metageneration: moved.metageneration)
                return try await store.patch(moved.name, patch, if: precondition)
            }
            if let waiting { contents.didSend(waiting) }
            try didStore(patched, of: inode)
            markWritten(inode)
        } catch {
            log(.warning, "\(moved.name): renamed, but its metadata could not be changed yet: \(error)")
            if isUploadDue { return }
            do throws(FileSystemError) { try await sendLater(rest, of: inode, contents) } catch {
                log(.warning, "\(moved.name): its metadata could not be changed: \(error)")
            }
        }
    }

    /// The upload that is due takes `changes` along, which are those of a rename. It says the type in any case: what
    /// was set before may have been for another name.
    /// - Returns: false: none is due.
    @discardableResult
    private func addToUpload(
        _ changes: MetadataChanges, typedAs settled: ObjectHeaders, of inode: InodeNumber, _ contents: FileContents
    ) -> Bool {
        var changes = changes
        changes.headers.contentType = settled.contentType.map { .set($0) }
        guard contents.addChangesIfDirty(changes) else { return false }
        resealChanges(of: inode, contents)
        return true
    }

    /// A file that the bucket does not have yet is renamed here alone, and stored under its new name.
    private func replaceWhenStored(_ rename: Rename, _ left: ObjectHeaders?) throws(FileSystemError) {
        let (destination, targetRecord) = try destination(of: rename, kind: .file)
        let shown = try shownHeaders(of: rename.source)
        let settled = shown.renamed(from: try place(of: rename.source).name, to: destination, replacing: left)
        try namespace.withLock { (space) throws(FileSystemError) in
            try space.node(rename.source).replaces = targetRecord
        }
        addToUpload(
            MetadataChanges(headers: MetadataPatch(from: shown, to: settled)), typedAs: settled, of: rename.source,
            try contents(of: rename.source))
    }

    /// The new name, and what the bucket has of it.
    func destination(
        of rename: Rename, kind: FileAttributes.Kind
    ) throws(FileSystemError) -> (name: ObjectName, target: FileRecord?) {
        try namespace.withLock { (space) throws(FileSystemError) in
            let folder = try space.directory(rename.newParent).node
            let target = try rename.target.map { (inode) throws(FileSystemError) in try space.node(inode) }
            return (space.objectName(rename.newName, in: folder, kind: kind), target?.record ?? target?.replaces)
        }
    }

    func relink(_ rename: Rename) throws(FileSystemError) {
        let now = clock.now()
        let today = clock.today()
        let replaced = try namespace.withLock { (space) throws(FileSystemError) -> FileContents? in
            var replaced: FileContents?
            let node = try space.node(rename.source)
            let folder = try space.directory(rename.newParent).node
            if case .node(let old) = folder.directory?.child(rename.newName), old !== node {
                replaced = old.contents
                old.contents?.forgetUnsaved()
                if let kept = old.keptObject { old.record = FileRecord(kept) }
                space.detach(old, as: .unlinked, leaving: nil)
            }
            node.parent?.entriesChanged(today)
            folder.entriesChanged(today)
            space.relink(node, to: rename.newName, in: folder, now: now)
            node.asOf = now
            return replaced
        }
        journalMove(of: rename.source, replacing: replaced)
    }
}
