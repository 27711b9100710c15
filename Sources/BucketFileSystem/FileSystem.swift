import Locking
package import Logging
package import ObjectStore

/// A bucket as files: one method per kernel operation, in files by topic (`FileSystem+….swift`). Owned by the mount;
/// callable from any thread. Calls are made with `Task.immediate`, so that what is answered from memory is answered on
/// the caller's thread; a call suspends only for the network. `read` takes a completion instead, because it is the
/// hottest path.
///
/// Lock order: namespace, file contents, object content, memory budget. None is held across I/O on the network.
package final class FileSystem: Sendable {
    let store: any ObjectStore
    let configuration: Configuration
    /// What was acknowledged and the bucket does not have.
    let journal: Journal
    let kernelCache: any KernelCache
    let log: Logger
    let clock: Clock
    let engine: ReadEngine
    let namespace: Lock<Namespace>
    let handles = Lock(Handles())
    let counter = Lock(UInt64(0))
    /// Work that goes on after its operation was answered: stores after the last close.
    let afterwork = Afterwork()
    /// Files whose bytes are to become those of other files when these are stored. They are pinned: who changes them
    /// must find the same node.
    let copies = Lock([InodeNumber: Set<InodeNumber>]())
    let appending = Lock(AppendingState())
    let stagingBudget: StagingBudget
    /// Uploads in the background at once: enough to hide the latency of small files.
    let uploadSlots = AsyncSlots(16)
    /// Of uploads in the background.
    let patience = Patience()
    /// Why content whose close was answered is not in the bucket, by name: told at the next open.
    let failures = Lock<[ObjectName: FileSystemError]>([:])
    let recovery = Lock<Recovery?>(nil)
    let vacatedNames: Lock<VacatedNames>
    /// Uploads under way.
    package let transfers = TransferRegistry()

    struct Handles {
        var files: [HandleID: FileHandle] = [:]
        var directories: [HandleID: DirectoryHandle] = [:]
    }

    package init(
        store: any ObjectStore, configuration: Configuration, journal: Journal, kernelCache: any KernelCache,
        log: Logger, clock: Clock = .system
    ) {
        self.store = store
        self.configuration = configuration
        self.journal = journal
        stagingBudget = StagingBudget(limit: configuration.stagingLimit)
        vacatedNames = Lock(VacatedNames(lasting: configuration.succession))
        self.kernelCache = kernelCache
        self.log = log
        self.clock = clock
        engine = ReadEngine(store: store, memoryLimit: configuration.memoryLimit, log: log)
        namespace = Lock(Namespace(configuration: configuration, now: clock.now()))
    }

    deinit { namespace.withLock { $0.removeAll() } }

    package func statistics() -> FileSystemStatistics { FileSystemStatistics() }

    /// Waits for what is being stored and stores what is still dirty; the mount is no longer reachable.
    /// Answers the names that could not be stored; their bytes are kept in the journal's directory.
    package func shutDown() async -> [ObjectName] {
        unsaved?.end()
        patience.end()
        await afterwork.wait()
        var failed: [ObjectName] = []
        let dirty = namespace.withLock { $0.allNodes.filter { $0.contents?.isDirty == true }.map(\.number) }
        for inode in dirty {
            do throws(FileSystemError) {
                try await storeChanges(of: inode)
            } catch {
                failed.append(keepUnsaved(inode, because: error))
            }
        }
        failed += await sendAllChanges()
        await removeAllKept()
        await keepEmptiedFolders()
        unsaved?.close()
        // What the background has given up is known to the journal alone.
        let kept = (try? journal.entries().entries.map(\.object)) ?? []
        return failed + Set(kept).subtracting(failed).sorted()
    }

    // MARK: Shared by the topics

    func nextNumber() -> UInt64 {
        counter.withLock { counter in
            counter += 1
            return counter
        }
    }

    /// For bytes that a crash may take.
    func makeStagingFile() throws(FileSystemError) -> StagingFile {
        try StagingFile(in: journal.directory.path, number: nextNumber(), budget: stagingBudget)
    }

    /// For bytes that are to be stored as `place` says.
    func makeStagingFile(for place: Journal.Place) throws(FileSystemError) -> StagingFile {
        try StagingFile(in: journal.directory.path, number: nextNumber(), budget: stagingBudget) {
            [journal, clock] name in
            StagedEntry(journal: journal, place: place, file: name, time: clock.today())
        }
    }

    /// For changed bytes of a file: those of one that has lost its name are for its holders, and for nobody after them.
    func makeStagingFile(of inode: InodeNumber) throws(FileSystemError) -> StagingFile {
        let isRemoved = try place(of: inode).link == .unlinked
        return try isRemoved ? makeStagingFile() : makeStagingFile(for: journalPlace(of: inode))
    }

    func requireWritable() throws(FileSystemError) {
        if configuration.isReadOnly { throw .readOnly }
    }

    func fileHandle(_ id: HandleID) throws(FileSystemError) -> FileHandle {
        guard let handle = handles.withLock({ $0.files[id] }) else { throw .badHandle }
        return handle
    }

    /// Whether a new object may go by `name`.
    func requireLegal(
        _ name: EntryName, in parent: InodeNumber, kind: FileAttributes.Kind
    ) throws(FileSystemError) {
        if name.bytes.count > EntryName.longest { throw .nameTooLong }
        guard let segment = Spelling.segment(of: name), !segment.isFolderBesideFile, !segment.isShortened else {
            throw .invalidArgument
        }
        // The service takes UTF-8 without line ends, at most 1,024 bytes (PROTOCOL.md, names and limits).
        let hasLineEnd = segment.bytes.contains(10) || segment.bytes.contains(13)
        if hasLineEnd || String(validating: segment.bytes, as: UTF8.self) == nil { throw .invalidArgument }
        let (folder, object) = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.directory(parent).node
            return (space.objectName(name, in: node, kind: .directory), space.objectName(name, in: node, kind: kind))
        }
        if folder.bytes.count > Self.longestObjectName { throw .nameTooLong }
        if kind == .directory { return }
        // Without a last segment it would be the placeholder of `parent`: what it holds would never be seen.
        if segment.bytes.isEmpty || Self.refusedObjectNames.contains(object) { throw .invalidArgument }
    }

    private static let longestObjectName = 1_024
    private static let refusedObjectNames: [ObjectName] = [ObjectName("."), ObjectName("..")]
}
