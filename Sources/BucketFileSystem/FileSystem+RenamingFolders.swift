import Locking
import Logging
import ObjectStore

/// Renaming folders: an object store has no such thing, so every object below is copied on the server, all before the
/// first is deleted. An interruption leaves the old folder whole, or both.
extension FileSystem {
    func renameFolder(_ rename: Rename) async throws(FileSystemError) {
        try await storeSealed(below: rename.source)
        let source = try place(of: rename.source).name
        let (destination, _) = try destination(of: rename, kind: .directory)
        guard !destination.bytes.starts(with: source.bytes) else { throw .invalidArgument }
        let name = try namespace.withLock { (space) throws(FileSystemError) in try space.node(rename.source).name }
        let mark = FolderMove(source: source, destination: destination, in: configuration.prefix)
        var isResumed = false
        if let target = rename.target { isResumed = try await makeRoom(at: target, for: mark) }
        try await keepFolder(rename.parent)
        try await sendChanges(below: rename.source)
        try await pass(gates(below: rename.source)) { () async throws(FileSystemError) in
            let isMoved = try await fromStore { () async throws(StorageError) in
                try await store.moveFolder(source, to: destination)
            }
            if isMoved {
                try relink(rename)
                followFolder(rename.source)
                return journalMove(of: rename.source)
            }
            if !isResumed { await begin(mark) }
            let copies: [Copied]
            do throws(FileSystemError) {
                copies = try await copyAll(below: source, to: destination, isResumed: isResumed)
            } catch {
                if !isResumed { await end(mark) }
                throw error
            }
            try relink(rename)
            adopt(copies, below: rename.source)
            journalMove(of: rename.source)
            // What was deleted before the interruption is not among the copies.
            if isResumed { followFolder(rename.source) }
            let kept = await deleteSources(of: copies)
            guard let failure = kept.failure else { return }
            if !isResumed, kept.count == copies.count {
                await takeBack(rename, to: name, copies)
                await end(mark)
            }
            throw FileSystemError(failure)
        }
        try await moveStragglers(from: source, to: destination)
        forgetSeen(name, in: rename.parent)
        await end(mark)
    }

    /// Who looked before the last object was deleted has seen the folder under its old name still.
    private func forgetSeen(_ name: EntryName, in parent: InodeNumber) {
        let now = clock.now()
        namespace.withLock { space in
            guard let folder = try? space.node(parent), let directory = folder.directory else { return }
            if case .node(let node) = directory.child(name) {
                // Perhaps somebody has made it anew.
                node.asOf = Namespace.longAgo
            } else {
                directory.set(name, .absent(asOf: now))
            }
        }
    }

    // MARK: Interrupted

    /// Clears an empty folder away. One that has something stays, if an interrupted renaming put it there: answers true
    /// then.
    private func makeRoom(at target: InodeNumber, for mark: FolderMove) async throws(FileSystemError) -> Bool {
        do throws(FileSystemError) {
            let placeholder = try await placeholderIfEmpty(target, asks: true)
            if let placeholder { try await delete(placeholder.metadata.name, placeholder, target) }
            let name = try place(of: target).name
            try await fromStore { () async throws(StorageError) in try await store.removeFolder(name) }
            forgetUnsent(try contents(of: target))
            return false
        } catch {
            guard case .directoryNotEmpty = error, await hasBegun(mark) else { throw error }
            return true
        }
    }

    /// From here on a renaming that breaks off can be told from two folders that somebody made.
    /// Who may not write there renames all the same.
    private func begin(_ mark: FolderMove) async {
        do throws(StorageError) {
            _ = try await store.insert(
                Upload(
                    name: mark.name, headers: ObjectHeaders(), precondition: .none,
                    source: BytesSource(mark.content)))
        } catch {
            log(.info, "a renaming that is interrupted cannot be finished: \(error)")
        }
    }

    private func hasBegun(_ mark: FolderMove) async -> Bool {
        guard let object = try? await store.metadata(of: mark.name) else { return false }
        let content = try? await WholeRead.run(
            mark.name, objectGeneration: object.objectGeneration, limit: 4_096, from: store)
        return content == mark.content
    }

    private func end(_ mark: FolderMove) async {
        do throws(StorageError) { try await store.delete(mark.name, if: .none) } catch {
            let isNoMatter = error.kind == .notFound || error.kind == .forbidden
            log(isNoMatter ? .debug : .warning, "the mark of a renaming is left over: \(error)")
        }
    }

    /// The mark of a folder's renaming while it goes on: an object below the mount's own folder.
    private struct FolderMove {
        let name: ObjectName
        let content: [UInt8]

        init(source: ObjectName, destination: ObjectName, in prefix: ObjectName) {
            content = source.bytes + [10] + destination.bytes
            let hash = String(FileNumber.make(from: content, attempt: 0), radix: 36)
            name = ObjectName(prefix.bytes + FileSystem.ownFolder + Array("/moves/\(hash)".utf8))
        }
    }

    /// The bucket has renamed a folder as one: what is in it is as it was, under other names.
    private func followFolder(_ inode: InodeNumber) {
        namespace.withLock { space in
            guard let folder = try? space.node(inode) else { return }
            space.followFolder(folder)
        }
    }

    /// What was closed below is stored before it is copied.
    private func storeSealed(below inode: InodeNumber) async throws(FileSystemError) {
        let sealed = try namespace.withLock { (space) throws(FileSystemError) in
            var found: [InodeNumber] = []
            space.visit(below: try space.node(inode)) { node in
                if node.contents?.hasSealed == true { found.append(node.number) }
            }
            return found
        }
        let failures = await inParallel(sealed) { [self] inode -> FileSystemError? in
            do throws(FileSystemError) {
                try await storeChanges(of: inode, sealedOnly: true)
                return nil
            } catch {
                return error
            }
        }
        if let failure = failures.lazy.compactMap({ $0 }).first { throw failure }
    }

    /// Files stored below the old name while their folder was on the way.
    private func moveStragglers(from source: ObjectName, to destination: ObjectName) async throws(FileSystemError) {
        let copies = try await copyAll(below: source, to: destination, isResumed: false)
        guard !copies.isEmpty else { return }
        if let failure = await deleteSources(of: copies).failure { throw FileSystemError(failure) }
    }

    /// Of the folder and everything below that was opened or changed, in the order every renaming takes them.
    private func gates(below inode: InodeNumber) throws(FileSystemError) -> [AsyncGate] {
        let contents = try namespace.withLock { (space) throws(FileSystemError) in
            let folder = try space.node(inode)
            var found = folder.contents.map { [(inode, $0)] } ?? []
            space.visit(below: folder) { node in
                if let contents = node.contents { found.append((node.number, contents)) }
            }
            return found
        }
        return contents.sorted { $0.0.rawValue < $1.0.rawValue }.map(\.1.gate)
    }

    /// One object and its copy.
    struct Copied: Sendable {
        let source: ObjectMetadata
        let copy: ObjectMetadata
    }

    /// Copies every object below `source`; all or none stay.
    /// - Parameter isResumed: some have their copies, and these stay whatever happens.
    private func copyAll(
        below source: ObjectName, to destination: ObjectName, isResumed: Bool
    ) async throws(FileSystemError) -> [Copied] {
        let objects = try await allObjects(below: source)
        let results = await inParallel(objects) { [self] object -> Result<Copied, FileSystemError> in
            let name = ObjectName(destination.bytes + object.name.bytes.dropFirst(source.bytes.count))
            let headers = object.headers.keepingTime(of: FileRecord(object))
                .renamed(from: object.name, to: name, replacing: nil)
            let copy = ObjectCopy(
                source: object.name, sourceGeneration: object.objectGeneration, destination: name,
                precondition: .mustNotExist, headers: headers == object.headers ? nil : headers)
            do throws(FileSystemError) {
                let copied = try await fromStore { () async throws(StorageError) in try await store.copy(copy) }
                return .success(Copied(source: object, copy: copied))
            } catch {
                if isResumed, case .stale = error, let copied = await self.earlierCopy(of: object, at: name) {
                    return .success(copied)
                }
                return .failure(error)
            }
        }
        let copies = results.compactMap { try? $0.get() }
        guard let failure = results.lazy.compactMap(\.failure).first else { return copies }
        if isResumed { throw failure }
        _ = await inParallel(copies) { [store] copied in
            try? await store.delete(copied.copy.name, if: .mustBe(copied.copy.objectGeneration))
        }
        throw failure
    }

    /// nil: what is there is something else.
    private func earlierCopy(of object: ObjectMetadata, at name: ObjectName) async -> Copied? {
        guard let copy = try? await store.metadata(of: name), copy.size == object.size, copy.crc32c == object.crc32c
        else { return nil }
        return Copied(source: object, copy: copy)
    }

    private func allObjects(below prefix: ObjectName) async throws(FileSystemError) -> [ObjectMetadata] {
        guard store.abilities.listsMetadata else { return try await allObjectsByName(below: prefix) }
        var query = ListQuery(prefix: prefix, collapsesFolders: false, pageSize: configuration.listPageSize)
        var objects: [ObjectMetadata] = []
        repeat {
            let page = try await fromStore { () async throws(StorageError) in try await store.page(query) }
            objects += page.items
            query.pageToken = page.nextPageToken
        } while query.pageToken != nil
        return objects
    }

    /// The nodes and names below a renamed folder now stand for the copies.
    private func adopt(_ copies: [Copied], below inode: InodeNumber) {
        let now = clock.now()
        let byName = Dictionary(copies.map { ($0.copy.name, FileRecord($0.copy)) }) { first, _ in first }
        namespace.withLock { space in
            guard let folder = try? space.node(inode) else { return }
            folder.record = byName[space.objectName(of: folder)]
            space.adopt(byName, below: folder, now: now)
        }
    }

    /// What another client has put in a source's place meanwhile stays where it is. What fails is tried once more, as
    /// one that stays makes two folders of one.
    /// - Returns: how many stay although nobody replaced them, and why.
    private func deleteSources(of copies: [Copied]) async -> (count: Int, failure: StorageError?) {
        var rest = copies
        var failures: [StorageError] = []
        for _ in 0..<2 where !rest.isEmpty {
            let results = await inParallel(rest) { [store] copied -> (Copied, StorageError)? in
                do throws(StorageError) {
                    try await store.delete(copied.source.name, if: .mustBe(copied.source.objectGeneration))
                    return nil
                } catch {
                    return error.kind == .notFound ? nil : (copied, error)
                }
            }
            rest = results.compactMap { $0?.0 }
            failures = results.compactMap { $0?.1 }
        }
        for failure in failures { log(.warning, "renamed, but the old name stays: \(failure)") }
        failures.removeAll { $0.kind == .preconditionFailed }
        return (failures.count, failures.first)
    }

    /// Nothing could be deleted, as where that is not allowed: the folder is where it was.
    private func takeBack(_ rename: Rename, to name: EntryName, _ copies: [Copied]) async {
        _ = await inParallel(copies) { [store] copied in
            try? await store.delete(copied.copy.name, if: .mustBe(copied.copy.objectGeneration))
        }
        let back = Rename(
            source: rename.source, target: nil, parent: rename.newParent, newName: name, newParent: rename.parent)
        do throws(FileSystemError) { try relink(back) } catch {
            return log(.error, "a renaming could not be taken back: \(error.words)")
        }
        adopt(copies.map { Copied(source: $0.copy, copy: $0.source) }, below: rename.source)
        expire(rename.newParent)
    }

    /// `body` for each of `items`, 64 at a time: enough to hide the latency of a request.
    func inParallel<Item: Sendable, Value: Sendable>(
        _ items: [Item], _ body: @escaping @Sendable (Item) async -> Value
    ) async -> [Value] {
        await withTaskGroup(of: Value.self) { group in
            var rest = items[...]
            for item in rest.prefix(64) { group.addTask { await body(item) } }
            rest = rest.dropFirst(64)
            var values: [Value] = []
            for await value in group {
                values.append(value)
                if let item = rest.popFirst() { group.addTask { await body(item) } }
            }
            return values
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
