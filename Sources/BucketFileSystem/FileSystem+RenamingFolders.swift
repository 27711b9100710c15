import Locking
import Logging
import ObjectStore

/// Renaming folders: an object store has no such thing, so every object below is copied on the server, all before the
/// first is deleted. An interruption leaves the old folder whole, or both.
extension FileSystem {
    func renameFolder(_ rename: Rename) async throws(FileSystemError) {
        if let target = rename.target {
            let placeholder = try await placeholderIfEmpty(target, asks: true)
            if let placeholder { try await delete(placeholder.metadata.name, placeholder, target) }
        }
        let source = try place(of: rename.source).name
        let (destination, _) = try destination(of: rename, kind: .directory)
        guard !destination.bytes.starts(with: source.bytes) else { throw .invalidArgument }
        try await keepFolder(rename.parent)
        try await sendChanges(below: rename.source)
        try await pass(gates(below: rename.source)) { () async throws(FileSystemError) in
            let copies = try await copyAll(below: source, to: destination)
            try relink(rename)
            adopt(copies, below: rename.source, from: source, to: destination)
            journalMove(of: rename.source)
            try await deleteSources(of: copies)
        }
        try await moveStragglers(from: source, to: destination)
    }

    /// Files stored below the old name while their folder was on the way.
    private func moveStragglers(from source: ObjectName, to destination: ObjectName) async throws(FileSystemError) {
        let copies = try await copyAll(below: source, to: destination)
        guard !copies.isEmpty else { return }
        try await deleteSources(of: copies)
    }

    /// Of every file below that was opened or changed, in the order every renaming takes them.
    private func gates(below inode: InodeNumber) throws(FileSystemError) -> [AsyncGate] {
        let contents = try namespace.withLock { (space) throws(FileSystemError) in
            var found: [(InodeNumber, FileContents)] = []
            space.visit(below: try space.node(inode)) { node in
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
    private func copyAll(
        below source: ObjectName, to destination: ObjectName
    ) async throws(FileSystemError) -> [Copied] {
        let objects = try await allObjects(below: source)
        let results = await inParallel(objects) { [self] object -> Result<Copied, FileSystemError> in
            let name = ObjectName(destination.bytes + object.name.bytes.dropFirst(source.bytes.count))
            let headers = Self.headers(
                object.headers, under: name, movedFrom: FileRecord(object), replacing: nil)
            let copy = ObjectCopy(
                source: object.name, sourceGeneration: object.objectGeneration, destination: name,
                precondition: .mustNotExist, headers: headers == object.headers ? nil : headers)
            do throws(FileSystemError) {
                let copied = try await fromStore { () async throws(StorageError) in try await store.copy(copy) }
                return .success(Copied(source: object, copy: copied))
            } catch {
                return .failure(error)
            }
        }
        let copies = results.compactMap { try? $0.get() }
        guard let failure = results.lazy.compactMap(\.failure).first else { return copies }
        _ = await inParallel(copies) { [store] copied in
            try? await store.delete(copied.copy.name, if: .mustBe(copied.copy.objectGeneration))
        }
        throw failure
    }

    private func allObjects(below prefix: ObjectName) async throws(FileSystemError) -> [ObjectMetadata] {
        guard store.abilities.listsMetadata else { return try await allObjectsByName(below: prefix) }
        var query = ListQuery(prefix: prefix, collapsesFolders: false, pageSize: configuration.listPageSize)
        var objects: [ObjectMetadata] = []
        repeat {
            let page = try await fromStore { () async throws(StorageError) in try await store.list(query) }
            objects += page.items
            query.pageToken = page.nextPageToken
        } while query.pageToken != nil
        return objects
    }

    /// The nodes and names below a renamed folder now stand for the copies.
    private func adopt(
        _ copies: [Copied], below inode: InodeNumber, from source: ObjectName, to destination: ObjectName
    ) {
        let now = clock.now()
        let byName = Dictionary(copies.map { ($0.copy.name, FileRecord($0.copy)) }) { first, _ in first }
        namespace.withLock { space in
            guard let folder = try? space.node(inode) else { return }
            folder.record = byName[space.objectName(of: folder)]
            space.adopt(byName, below: folder, now: now)
        }
    }

    /// What another client has put in a source's place meanwhile stays where it is.
    private func deleteSources(of copies: [Copied]) async throws(FileSystemError) {
        let results = await inParallel(copies) { [store, log] copied -> StorageError? in
            do throws(StorageError) {
                try await store.delete(copied.source.name, if: .mustBe(copied.source.objectGeneration))
                return nil
            } catch {
                if error.kind == .notFound { return nil }
                log(.warning, "renamed, but the old name stays: \(error)")
                return error.kind == .preconditionFailed ? nil : error
            }
        }
        if let failure = results.lazy.compactMap({ $0 }).first { throw FileSystemError(failure) }
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
