import Locking
import Logging
import ObjectStore

/// Lookups where lists tell names alone (the Firebase protocol): what is behind a name costs a request of its own, made
/// when somebody wants it, and ahead of who walks through a folder.
extension FileSystem {
    /// Answers since when the answer holds.
    func askByName(
        _ segment: Spelling.Segment, _ name: EntryName, in parent: InodeNumber
    ) async throws(FileSystemError) -> Instant {
        if let start = try await askAboutKnown(name, in: parent) { return start }
        if let startedAt = try await askByListingIfAllowed(segment, name, in: parent) {
            return try await askAboutKnown(name, in: parent) ?? startedAt
        }
        return try await askForOneByName(segment.bytes, in: parent)
    }

    /// The rules may let a user read what is in a folder without letting him list it. Then each name is asked for by
    /// itself, as in a large folder.
    private func askByListingIfAllowed(
        _ segment: Spelling.Segment, _ name: EntryName, in parent: InodeNumber
    ) async throws(FileSystemError) -> Instant? {
        do {
            return try await askByListing(segment, name, in: parent)
        } catch let error where error.isForbidden {
            try namespace.withLock { (space) throws(FileSystemError) in
                try space.directory(parent).directory.isLarge = true
            }
            return nil
        }
    }

    // MARK: A name that was listed, or known and old

    /// nil: the name is not known.
    private func askAboutKnown(
        _ name: EntryName, in parent: InodeNumber
    ) async throws(FileSystemError) -> Instant? {
        let found = try namespace.withLock { (space) throws(FileSystemError) -> MetadataQuestion? in
            question(about: name, in: try space.directory(parent).node, &space)
        }
        guard let found else { return nil }
        askAhead(of: name, in: parent)
        return try await found.answer()
    }

    /// Asks about the names that whoever wants `name` will want next.
    func askAhead(of name: EntryName, in parent: InodeNumber) {
        let now = clock.now()
        namespace.withLock { space in
            guard let folder = try? space.node(parent), let directory = folder.directory else { return }
            for next in directory.walk.wants(name) {
                guard let child = directory.child(next), child.needsQuestion(space, now: now) else { continue }
                _ = question(about: next, in: folder, &space)
            }
        }
    }

    /// The question under way about a name that is known, or a new one; nil: there is no such name.
    private func question(about name: EntryName, in folder: Node, _ space: inout Namespace) -> MetadataQuestion? {
        guard let directory = folder.directory, let child = directory.child(name), !child.outranksAnswers,
            let isFolder = child.isFolder
        else { return nil }
        if let question = directory.questions[name] { return question }
        let object = space.objectName(name, in: folder, kind: isFolder ? .directory : .file)
        var isSure = false
        if case .listed(_, let asOf) = child { isSure = space.isFresh(asOf, now: clock.now()) }
        let question = MetadataQuestion()
        directory.questions[name] = question
        let parent = folder.number
        question.ask { [self, isSure] in
            let start = clock.now()
            let result: Result<Void, FileSystemError> =
                isFolder
                ? await askAboutFolder(name, object, isSure: isSure, in: parent)
                : await askAboutFile(name, object, in: parent)
            endQuestion(about: name, in: parent)
            return result.map { start }
        }
        return question
    }

    private func endQuestion(about name: EntryName, in parent: InodeNumber) {
        namespace.withLock { space in (try? space.node(parent))?.directory?.questions[name] = nil }
    }

    private func askAboutFile(
        _ name: EntryName, _ object: ObjectName, in parent: InodeNumber
    ) async -> Result<Void, FileSystemError> {
        let start = clock.now()
        let answer = await existing { () async throws(StorageError) in try await self.store.metadata(of: object) }
        return answer.map { metadata in
            let record = metadata.map(FileRecord.init)
            learn(name, asked: object, in: parent, kind: record.map(\.kind), record: record, asOf: start)
        }
    }

    /// - Parameter isSure: a list has told of the folder lately, so that nothing is in doubt but its placeholder.
    private func askAboutFolder(
        _ name: EntryName, _ object: ObjectName, isSure: Bool, in parent: InodeNumber
    ) async -> Result<Void, FileSystemError> {
        let start = clock.now()
        async let placeholder = placeholderIfAllowed(object)
        async let isThere = isSure ? .success(true) : hasNames(below: object)
        let (record, hasNames) = (await placeholder, await isThere)
        return record.flatMap { record in
            hasNames.map { hasNames in
                let exists = hasNames || record != nil
                learn(
                    name, asked: object, in: parent, kind: exists ? .directory : nil, record: record, asOf: start)
            }
        }
    }

    /// Nothing is learnt about a name that stands for another object by now, as in a folder that was renamed.
    /// - Parameter object: what the bucket was asked about, as a file or as a folder.
    private func learn(
        _ name: EntryName, asked object: ObjectName, in parent: InodeNumber, kind: FileAttributes.Kind?,
        record: FileRecord?, asOf: Instant
    ) {
        let askedKind: FileAttributes.Kind = object.bytes.last == UInt8(ascii: "/") ? .directory : .file
        namespace.withLock { space in
            guard let folder = try? space.node(parent),
                space.objectName(name, in: folder, kind: askedKind) == object
            else { return }
            space.learn(name, in: folder, kind: kind, record: record, asOf: asOf)
        }
    }

    /// Who may not ask about a placeholder sees a folder without one.
    private func placeholderIfAllowed(_ object: ObjectName) async -> Result<FileRecord?, FileSystemError> {
        let answer = await existing { () async throws(StorageError) in try await self.store.metadata(of: object) }
        if case .failure(let error) = answer, error.isForbidden { return .success(nil) }
        return answer.map { $0.map(FileRecord.init) }
    }

    private func hasNames(below folder: ObjectName) async -> Result<Bool, FileSystemError> {
        await existing { () async throws(StorageError) in
            let page = try await self.store.page(ListQuery(prefix: folder, collapsesFolders: true, pageSize: 1))
            return !page.names.isEmpty || !page.folders.isEmpty
        }.map { $0 ?? false }
    }

    // MARK: A name that nobody listed

    /// Three requests at once: is there an object of that name, a placeholder, or anything below it? Both a file and a
    /// folder: the file has the plain name.
    private func askForOneByName(_ segment: [UInt8], in parent: InodeNumber) async throws(FileSystemError) -> Instant {
        let start = clock.now()
        let (plain, beside) = (Spelling.name(of: segment), Spelling.name(of: segment, isFolderBesideFile: true))
        let (file, folder) = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.directory(parent).node
            return (
                space.objectName(plain, in: node, kind: .file), space.objectName(plain, in: node, kind: .directory)
            )
        }
        async let object = existing { () async throws(StorageError) in try await self.store.metadata(of: file) }
        async let marker = placeholderIfAllowed(folder)
        async let below = hasNames(below: folder)
        let fileAnswer = await object
        let placeholderAnswer = await marker
        let hasNames = await below
        let placeholder = try placeholderAnswer.get()
        let isNamed = try hasNames.allowed() == true
        let isFolder = placeholder != nil || isNamed
        // What may not be asked about may be there all the same: it is no absence.
        if !isFolder, case .failure(let error) = fileAnswer { throw error }
        let metadata = try fileAnswer.allowed() ?? nil
        let record = metadata.map(FileRecord.init)
        learn(
            plain, asked: file, in: parent, kind: record?.kind ?? (isFolder ? .directory : nil),
            record: record ?? placeholder,
            asOf: start)
        let isBeside = record != nil && isFolder
        learn(beside, asked: folder, in: parent, kind: isBeside ? .directory : nil, record: placeholder, asOf: start)
        return start
    }
}

extension Child {
    /// Whether the bucket must be asked before anything can be said of it.
    fileprivate func needsQuestion(_ space: Namespace, now: Instant) -> Bool {
        switch self {
        case .listed: true
        case .node, .known: !outranksAnswers && !space.isFresh(asOf, now: now)
        case .absent: false
        }
    }
}

extension FileRecord {
    var kind: FileAttributes.Kind { isSymbolicLink ? .symbolicLink : .file }
}

extension FileSystemError {
    /// The rules say no.
    var isForbidden: Bool {
        if case .storage(let error) = self { error.kind == .forbidden } else { false }
    }
}

extension Result where Failure == FileSystemError {
    /// nil: it may not be asked.
    fileprivate func allowed() throws(FileSystemError) -> Success? {
        do { return try get() } catch {
            guard error.isForbidden else { throw error }
            return nil
        }
    }
}
