import Dispatch
import Locking
import Logging
import ObjectStore

/// How unsaved bytes become objects.
extension FileSystem {
    /// Stores what is unsaved of a file, whole; answers once the bucket has it. Failed, it stays unsaved, and the next
    /// call tries again.
    func storeChanges(of inode: InodeNumber) async throws(FileSystemError) {
        guard let contents = try? namespace.withLock({ try $0.node(inode).contents }), contents.isDirty else { return }
        try await contents.gate.pass { () async throws(FileSystemError) in
            // Another caller may have stored it meanwhile. What is written from here on is the next call's.
            if contents.isDirty { try await store(contents, of: inode) }
        }
    }

    private func store(_ contents: FileContents, of inode: InodeNumber) async throws(FileSystemError) {
        let (name, record, link) = try place(of: inode)
        guard link != .unlinked else { return contents.forgetUnsaved() }
        do throws(FileSystemError) {
            guard let snapshot = contents.snapshot() else { return contents.forgetUnsaved() }
            try await store(snapshot, isFrozen: false, contents, of: inode, as: name, over: record)
        } catch {
            guard case .staging = error, contents.isDirty else { throw error }
            // Written while it was being sent. A copy holds still.
            let copy = try makeStagingFile()
            guard let snapshot = try contents.frozenCopy(into: copy) else { return }
            try await store(snapshot, isFrozen: true, contents, of: inode, as: name, over: record)
        }
    }

    private func store(
        _ snapshot: FileContents.Snapshot, isFrozen: Bool, _ contents: FileContents, of inode: InodeNumber,
        as name: ObjectName, over record: FileRecord?
    ) async throws(FileSystemError) {
        try await fill(contents, snapshot)
        let checksum = try await onStagingQueue { () throws(FileSystemError) in
            if let known = snapshot.checksum { return known }
            return try snapshot.file.checksum(size: snapshot.size)
        }
        let (replaced, isExclusive) = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return (node.replaces, node.isExclusive)
        }
        let upload = Upload(
            name: name, headers: headers(for: name, over: record, replacing: replaced, snapshot.changes),
            // A new file must not be there yet, unless it was renamed over an object that we know.
            precondition: (record ?? replaced).map { .mustBe($0.objectGeneration) } ?? .mustNotExist,
            source: StagedSource(contents: contents, snapshot: snapshot, crc32c: checksum, isFrozen: isFrozen))
        do throws(FileSystemError) {
            let stored = try await fromStore { () async throws(StorageError) in try await store.insert(upload) }
            contents.didStore(snapshot)
            try didStore(stored, of: inode)
        } catch {
            if case .stale = error, isExclusive { throw .exists }
            throw error
        }
    }

    /// What other clients set stays; the type of a new object goes by its name.
    private func headers(
        for name: ObjectName, over record: FileRecord?, replacing replaced: FileRecord?, _ changes: PosixChanges
    ) -> ObjectHeaders {
        var headers = record?.metadata.headers ?? ObjectHeaders(contentType: ContentType.forFinalName(of: name))
        if let replaced { headers = headers.completed(from: replaced, for: name) }
        headers.custom = changes.applied(to: headers.custom)
        return headers
    }

    // MARK: Bytes of the bucket's version

    /// Fetches what the file still shows of the bucket's version into the staging file, several pieces at once.
    private func fill(_ contents: FileContents, _ snapshot: FileContents.Snapshot) async throws(FileSystemError) {
        guard !snapshot.missingBase.isEmpty else { return }
        guard let base = snapshot.base else { throw .stale }
        let pieces = snapshot.missingBase.flatMap { range in
            stride(from: range.lowerBound, to: range.upperBound, by: Int(Self.fillPiece)).map {
                $0..<min($0 + Self.fillPiece, range.upperBound)
            }
        }
        var failure: FileSystemError?
        await withTaskGroup(of: Result<Void, FileSystemError>.self) { group in
            var rest = pieces[...]
            func next() {
                guard let piece = rest.popFirst() else { return }
                group.addTask { [store] in await BaseFill.run(piece, of: base, from: store, into: contents) }
            }
            for _ in 0..<Self.fillsAtOnce { next() }
            for await result in group {
                if case .failure(let error) = result {
                    failure = failure ?? error
                    rest = []
                }
                next()
            }
        }
        if let failure { throw failure }
    }

    /// 32 MiB at 8 connections: large enough that the requests' latency does not count.
    private static let fillPiece: Int64 = 32 << 20
    private static let fillsAtOnce = 8

    /// The bytes of an open file that is about to lose its object, so that its holders can go on reading.
    func saveBytesForHolders(of inode: InodeNumber) async throws(FileSystemError) {
        let isOpen = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return node.kind == .file && node.handles > 0 && node.record != nil
        }
        guard isOpen else { return }
        let (contents, baseSize) = try openContents(of: inode)
        guard let snapshot = try contents.snapshotForHolders(baseSize: baseSize, makeStagingFile) else { return }
        try await fill(contents, snapshot)
        contents.didSaveForHolders()
    }

    // MARK: What could not be stored

    /// How the names of files begin that keep unsaved bytes. Others in the staging directory are of no use once the
    /// file system is shut down.
    package static let unsavedPrefix = "unsaved-"

    /// Nobody is left who could be told: the log names the file that keeps the bytes. Answers the object's name.
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
        guard let file = contents?.takeUnsaved() else { return name }
        let kept = "\(configuration.stagingDirectory)/\(Self.unsavedPrefix)\(nextNumber())"
        do throws(FileSystemError) {
            try file.keep(as: kept)
            log(.error, "\(name) could not be stored (\(error)); its bytes are kept in \(kept)")
        } catch {
            log(.error, "\(name) could not be stored, and its bytes could not be kept: \(error)")
        }
        return name
    }

    /// Blocking reads of the staging disk have threads of their own: the pool has one per core.
    private func onStagingQueue<Value: Sendable>(
        _ body: @escaping @Sendable () throws(FileSystemError) -> Value
    ) async throws(FileSystemError) -> Value {
        let result = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Result { () throws(FileSystemError) in try body() })
            }
        }
        return try result.get()
    }
}
