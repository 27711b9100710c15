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
            guard let record else {
                try await deleteReplaced(by: rename.source)
                try replaceWhenStored(rename)
                return try relink(rename)
            }
            let (_, replaced) = try destination(of: rename, kind: .file)
            let moved = try await move(object, record, rename)
            if let target { forgetUnsent(target) }
            try relink(rename)
            await settle(moved, movedFrom: record, replacing: replaced, try contents(of: rename.source), rename.source)
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

    /// Has the moved object carry what it should under its new name, and what waited to be changed of it. The object
    /// has moved whatever comes of this, so a failure only leaves it waiting.
    private func settle(
        _ moved: ObjectMetadata, movedFrom record: FileRecord, replacing replaced: FileRecord?,
        _ contents: FileContents, _ inode: InodeNumber
    ) async {
        let waiting = contents.unsentChanges
        let settled = Self.headers(moved.headers, under: moved.name, movedFrom: record, replacing: replaced)
        let headers = waiting?.applied(to: settled) ?? settled
        let patch = MetadataPatch(from: moved.headers, to: headers)
        defer { forgetNote(of: contents) }
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
            let rest = MetadataChanges(headers: MetadataPatch(from: moved.headers, to: settled))
            do throws(FileSystemError) { try await sendLater(rest, of: inode, contents) } catch {
                log(.warning, "\(moved.name): its metadata could not be changed: \(error)")
            }
        }
    }

    /// What a moved object is to carry: what it did, except that a type which came from the old name becomes the new
    /// name's, that its time, where only the bucket's clock told it, is written down before it is lost, and that it
    /// takes over what other clients set on the object it replaces.
    static func headers(
        _ moved: ObjectHeaders, under name: ObjectName, movedFrom record: FileRecord, replacing replaced: FileRecord?
    ) -> ObjectHeaders {
        var headers = moved
        if headers.contentType == ContentType.forName(record.metadata.name.bytes) {
            headers.contentType = ContentType.forName(name.bytes)
        }
        if let replaced { headers = headers.completed(from: replaced, for: name) }
        if record.posix.modified == nil {
            headers = MetadataChanges(modified: record.modified).applied(to: headers)
        }
        return headers
    }

    /// A file that the bucket does not have yet is renamed here alone, and stored under its new name.
    private func replaceWhenStored(_ rename: Rename) throws(FileSystemError) {
        let (_, targetRecord) = try destination(of: rename, kind: .file)
        try namespace.withLock { (space) throws(FileSystemError) in
            try space.node(rename.source).replaces = targetRecord
        }
    }

    func destination(
        of rename: Rename, kind: FileAttributes.Kind
    ) throws(FileSystemError) -> (name: ObjectName, target: FileRecord?) {
        try namespace.withLock { (space) throws(FileSystemError) in
            let folder = try space.directory(rename.newParent).node
            let target = try rename.target.map { (inode) throws(FileSystemError) in try space.node(inode) }
            return (space.objectName(rename.newName, in: folder, kind: kind), target?.record)
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
