import Locking
package import Logging
package import ObjectStore

/// What earlier mounts of a bucket have left behind, and what this one could not store: lists it, and brings it home.
/// Owned by the mount, or by a command where there is none; callable from any thread.
package final class Recovery: Sendable {
    private let journals: [Journal]
    /// The one that the mount itself writes.
    private let own: Journal?
    private let store: (any ObjectStore)?
    private let log: Logger
    private let patience = Patience()
    /// One attempt at a time for each entry.
    private let busy = Lock<Set<String>>([])

    /// - Parameters:
    ///   - journals: left by others, and ours alone.
    ///   - own: the one that the mount itself writes.
    ///   - store: nil: only what needs no bucket can be done.
    package init(_ journals: [Journal], own: Journal? = nil, store: (any ObjectStore)?, log: Logger) {
        self.journals = journals
        self.own = own
        self.store = store
        self.log = log
    }

    /// Locks and opens the journals in `directory` that no living mount uses. One that cannot be read is left alone,
    /// and told.
    package static func abandonedJournals(
        in directory: String, of owner: JournalOwner?, log: Logger
    ) throws(FileSystemError) -> [Journal] {
        var journals: [Journal] = []
        for found in try JournalDirectory.abandoned(in: directory, of: owner) {
            guard found.hasDatabase else {
                // Its process died before there was anything to keep.
                found.remove()
                continue
            }
            do throws(FileSystemError) {
                let journal = try Journal(opening: found)
                // Two services' names may have the same hash.
                if owner == nil || journal.owner == owner, !journal.removeIfEmpty() { journals.append(journal) }
            } catch {
                log(.error, "what an earlier mount left in \(found.path) cannot be read: \(error.words)")
            }
        }
        return journals
    }

    // MARK: Looking

    /// One entry, for people.
    package struct Item: Sendable {
        /// Names it among all journals of the machine: `a1B2c3-17`.
        package var name: String
        package var entry: JournalEntry
        package var journal: Journal
        /// Bytes; nil: a change of metadata alone.
        package var size: Int64? {
            if case .content(let content) = entry.purpose { content.size } else { nil }
        }
    }

    /// What earlier mounts have left, and what this one has given up. What it still works on is not among them.
    package func items() throws(FileSystemError) -> [Item] {
        var items: [Item] = []
        for journal in journals { items += try Self.items(of: journal) }
        guard let own else { return items }
        return try items
            + Self.items(of: own).filter(\.entry.isGivenUp)
    }

    package static func items(of journal: Journal) throws(FileSystemError) -> [Item] {
        try journal.entries().entries.map { entry in
            Item(name: "\(journal.directory.shortName)-\(entry.id.rawValue)", entry: entry, journal: journal)
        }
    }

    /// - Throws: `.notFound`.
    package func item(_ name: String) throws(FileSystemError) -> Item {
        guard let item = try items().first(where: { $0.name == name }) else { throw .notFound }
        return item
    }

    /// How many entries of `journals` wait for somebody's help.
    package static func kept(in journals: [Journal]) -> Int {
        journals.reduce(0) { sum, journal in
            sum + ((try? journal.entries())?.entries ?? []).count { $0.state != .sealed }
        }
    }

    /// What of `journal` is to be stored without anybody's help, and is not yet.
    package static func waiting(in journal: Journal) -> [ObjectName] {
        ((try? journal.entries())?.entries ?? []).filter { $0.state == .sealed }.map(\.object)
    }

    var keptByEarlierMounts: Int { Self.kept(in: journals) }

    // MARK: What was to be stored

    /// Stores what was closed, or about to be, when its mount ended; tells of the rest. Goes on until the bucket has
    /// answered for everything, or `end` is called.
    /// - Parameter didStore: is told each name that the bucket has anew.
    package func run(didStore: @escaping @Sendable (ObjectName) -> Void) async {
        tellOfTheRest()
        var attempt = 0
        while true {
            let waiting = await storeSealed(didStore)
            if waiting == 0 { return }
            attempt += 1
            let files = waiting == 1 ? "1 file" : "\(waiting) files"
            log(.warning, "\(files) of an earlier mount still to be stored")
            guard await patience.wait(before: attempt) else { return }
        }
    }

    /// What is under way is finished; what has to wait for the network stays for the next mount.
    package func end() { patience.end() }

    private func tellOfTheRest() {
        for journal in journals {
            guard let (entries, damaged) = try? journal.entries() else { continue }
            for text in damaged { log(.error, "an entry of \(journal.directory.path) is damaged: \(text)") }
            for entry in entries where entry.state != .sealed {
                let name = "\(journal.directory.shortName)-\(entry.id.rawValue)"
                let waysOut = JournalEntry.waysOut(name, entry.state)
                log(.warning, "\(entry.object): \(entry.state.words); it is kept: \(waysOut)")
            }
        }
    }

    /// Answers how many must wait.
    private func storeSealed(_ didStore: @escaping @Sendable (ObjectName) -> Void) async -> Int {
        let sealed = journals.flatMap { (try? Self.items(of: $0)) ?? [] }.filter { $0.entry.state == .sealed }
        // Entries for one name follow each other; different names need not.
        let chains = Dictionary(grouping: sealed, by: \.entry.object).values.map { $0 }
        return await withTaskGroup(of: Int.self) { group in
            var rest = chains[...]
            func next() {
                guard let chain = rest.popFirst() else { return }
                group.addTask { [self] in await bringHome(chain, didStore) }
            }
            for _ in 0..<Self.atOnce { next() }
            var waiting = 0
            for await count in group {
                waiting += count
                next()
            }
            return waiting
        }
    }

    /// Uploads at once: enough to hide the latency of small files.
    private static let atOnce = 16

    private func bringHome(_ chain: [Item], _ didStore: @Sendable (ObjectName) -> Void) async -> Int {
        var chain = chain[...]
        while let item = chain.popFirst() {
            if patience.isOver { return chain.count + 1 }
            switch await attempt(item) {
            case .stored(let metadata):
                didStore(metadata.name)
                // What came after it was based on the same version, or on this one.
                for index in chain.indices where chain[index].entry.base == item.entry.base {
                    rebase(&chain[index], onto: metadata)
                }
                rebaseOpen(besides: item, onto: metadata)
            case .conflict, .failed: break
            case .later(let reason):
                log(.info, "\(item.entry.object) is still to be stored: \(reason)")
                return chain.count + 1
            }
        }
        return 0
    }

    /// What was written after the close is kept, and is based on what was closed.
    private func rebaseOpen(besides stored: Item, onto metadata: ObjectMetadata) {
        for var item in (try? Self.items(of: stored.journal)) ?? []
        where item.entry.state == .open && item.entry.object == stored.entry.object
            && item.entry.base == stored.entry.base
        {
            rebase(&item, onto: metadata)
        }
    }

    private func rebase(_ item: inout Item, onto metadata: ObjectMetadata) {
        item.entry.base = .generation(metadata.objectGeneration, metadata.metageneration)
        guard case .content(let content) = item.entry.purpose else { return }
        do throws(FileSystemError) {
            try item.journal.move(
                [item.entry.id],
                to: Journal.Place(object: item.entry.object, base: item.entry.base, headers: content.headers))
        } catch {
            log(.error, "the journal \(item.journal.directory.path) could not be written: \(error.words)")
        }
    }

    // MARK: One by one

    /// Tries to store an entry, and writes down what came of it.
    @discardableResult
    func attempt(_ item: Item) async -> Homecoming.Outcome {
        guard busy.withLock({ $0.insert(item.name).inserted }) else { return .later("it is being stored already") }
        defer { _ = busy.withLock { $0.remove(item.name) } }
        guard let store else { return .later(Self.needsBucket) }
        let outcome = await Homecoming(journal: item.journal, store: store).run(item.entry)
        do throws(FileSystemError) {
            switch outcome {
            case .stored(let metadata):
                try forget(item)
                log(.warning, "\(metadata.name), left by an earlier mount, is stored now")
            case .conflict(let reason): try giveUp(item, as: .conflict, because: reason)
            case .failed(let reason): try giveUp(item, as: .failed, because: reason)
            case .later: break
            }
        } catch {
            log(.error, "the journal \(item.journal.directory.path) could not be written: \(error.words)")
        }
        return outcome
    }

    private func giveUp(
        _ item: Item, as state: JournalEntry.State, because reason: String
    ) throws(FileSystemError) {
        try item.journal.mark(item.entry.id, state, message: reason)
        log(.error, "\(item.entry.object): \(reason); it is kept: \(JournalEntry.waysOut(item.name, state))")
    }

    /// Stores an entry, whatever its state, where its preconditions hold.
    /// - Throws: what keeps it from being stored; `.notFound`: there is no such entry.
    package func retry(_ name: String) async throws(FileSystemError) -> ObjectName {
        let item = try item(name)
        return try Self.stored(await attempt(item), item.entry.object)
    }

    /// Stores the content of an entry under a name that no object has.
    /// - Throws: `.exists`.
    package func store(_ name: String, as object: ObjectName) async throws(FileSystemError) {
        var item = try item(name)
        guard case .content(let content) = item.entry.purpose else { throw .invalidArgument }
        // What shows of the base comes from where it was.
        guard let store else { throw .staging(Self.needsBucket) }
        let source = try await complete(content, item)
        let upload = Upload(name: object, headers: content.headers, precondition: .mustNotExist, source: source)
        do throws(StorageError) { _ = try await store.insert(upload) } catch {
            throw error.kind == .preconditionFailed ? .exists : FileSystemError(error)
        }
        item.entry.object = object
        try forget(item)
    }

    /// Writes the content of an entry into `sink`, piece by piece.
    /// - Parameter isAlone: only what was written here, with zeros around it; it needs no bucket.
    /// - Throws: `.stale` when the version is gone of which parts show in it.
    package func export(
        _ name: String, isAlone: Bool = false,
        into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws(FileSystemError) -> Void
    ) async throws(FileSystemError) {
        let item = try item(name)
        guard case .content(let content) = item.entry.purpose else { throw .invalidArgument }
        let source =
            isAlone ? try await content.alone(in: item.journal.directory) : try await complete(content, item)
        try await onStagingQueue { () throws(FileSystemError) in
            try unsafe source.withPieces(sink)
        }
    }

    private func complete(_ content: StagedContent, _ item: Item) async throws(FileSystemError) -> FileSource {
        guard store != nil || !content.showsBase else { throw .staging(Self.needsBucket) }
        var base: ShownBase?
        if let store, let generation = item.entry.base.objectGeneration {
            base = ShownBase(store: store, object: item.entry.object, objectGeneration: generation)
        }
        return try await content.whole(in: item.journal.directory, over: base)
    }

    private static let needsBucket = "parts of it are in the bucket, which is not at hand"

    /// Gives an entry up for good.
    package func discard(_ name: String) throws(FileSystemError) { try forget(try item(name)) }

    private func forget(_ item: Item) throws(FileSystemError) {
        try item.journal.remove([item.entry.id])
        if case .content(let content) = item.entry.purpose { item.journal.directory.removeFile(content.file) }
    }

    private static func stored(
        _ outcome: Homecoming.Outcome, _ object: ObjectName
    ) throws(FileSystemError) -> ObjectName {
        switch outcome {
        case .stored(let metadata): return metadata.name
        case .conflict: throw .stale
        case .failed(let reason), .later(let reason): throw .staging(reason)
        }
    }

    /// The end: journals without entries go.
    package func close() {
        for journal in journals { _ = journal.removeIfEmpty() }
    }
}

extension JournalEntry.State {
    /// For people.
    package var words: String {
        switch self {
        case .open: "was open and changed when its mount ended"
        case .sealed: "is to be stored"
        case .conflict: "conflicts with what the bucket has"
        case .failed: "could not be stored"
        }
    }
}
