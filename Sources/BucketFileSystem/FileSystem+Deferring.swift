import Locking
import Logging
import ObjectStore

/// Changes of metadata that wait a moment. `rsync`, `tar` and `cp` set times, modes and attributes right after a file
/// was stored, each by a call of its own, and often rename it then: sent at once, these would be two or three requests
/// a file, and the service takes one a second of each object. They wait only where this mount has just written to the
/// object, are in the journal meanwhile, and show in `stat` at once.
extension FileSystem {
    func mayWait(_ inode: InodeNumber, _ contents: FileContents) throws(FileSystemError) -> Bool {
        if contents.unsentChanges != nil { return true }
        let now = clock.now()
        return try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            // A folder's placeholder comes and goes with renamings around it; nobody sets a folder's times often.
            guard node.kind != .directory, node.link == .attached, node.record != nil, let writtenAt = node.writtenAt
            else { return false }
            return now.elapsed(since: writtenAt) < configuration.recentWrite
        }
    }

    /// The file was stored: what was set of it meanwhile is to follow.
    func settleChanges(of inode: InodeNumber, _ contents: FileContents) throws(FileSystemError) {
        markWritten(inode)
        forgetNote(of: contents)
        guard contents.unsentChanges != nil else { return }
        try waitToSend(inode)
        journaling((try? place(of: inode).name) ?? ObjectName("")) { () throws(FileSystemError) in
            try note(contents, of: inode)
        }
    }

    private func waitToSend(_ inode: InodeNumber) throws(FileSystemError) {
        try pin(inode)
        sendLater(inode, after: configuration.metadataDelay)
    }

    func markWritten(_ inode: InodeNumber) {
        let now = clock.now()
        namespace.withLock { space in (try? space.node(inode))?.writtenAt = now }
    }

    func sendLater(
        _ changes: MetadataChanges, of inode: InodeNumber, _ contents: FileContents
    ) async throws(FileSystemError) {
        guard let isFirst = contents.addUnsent(changes) else { return }
        if isFirst { try waitToSend(inode) }
        do throws(FileSystemError) {
            try note(contents, of: inode)
        } catch {
            // What is not written down must not wait.
            try await sendChanges(of: inode)
        }
    }

    /// Sends what waits of `inode` after a while, unless it went along with something else by then.
    private func sendLater(_ inode: InodeNumber, after delay: Duration) {
        Task { [weak self, clock] in
            await clock.sleep(delay)
            guard let self else { return }
            afterwork.start { [self] in
                do throws(FileSystemError) {
                    try await sendChanges(of: inode)
                } catch {
                    log(.warning, "\(objectName(of: inode)): its metadata could not be changed: \(error)")
                    if error.mayPass { return sendLater(inode, after: Self.pauseBeforeRetry) }
                    dropFolderChanges(of: inode)
                }
                // What was set while the rest was being sent has nobody else to send it.
                if hasUnsentChanges(inode) { return sendLater(inode, after: configuration.metadataDelay) }
                unpin(inode)
            }
        }
    }

    /// After the store itself has tried for as long as it may.
    private static let pauseBeforeRetry = Duration.seconds(30)

    /// What waits of the nodes below a folder, and of itself, is sent: somebody else is about to look at the objects.
    func sendChanges(below inode: InodeNumber) async throws(FileSystemError) {
        let waiting = try namespace.withLock { (space) throws(FileSystemError) in
            let top = try space.node(inode)
            var found: [Node] = [top]
            space.visit(below: top) { found.append($0) }
            return found.filter { $0.contents?.unsentChanges != nil }.map(\.number)
        }
        for inode in waiting { try await sendChanges(of: inode) }
    }

    /// At the end. Answers the names whose metadata could not be changed; the journal keeps what was to be.
    func sendAllChanges() async -> [ObjectName] {
        var failed: [ObjectName] = []
        let waiting = namespace.withLock { $0.allNodes.filter { $0.contents?.unsentChanges != nil }.map(\.number) }
        for inode in waiting {
            let name = objectName(of: inode)
            do throws(FileSystemError) {
                try await sendChanges(of: inode)
            } catch {
                log(.error, "\(name): its metadata could not be changed: \(error)")
                failed.append(name)
            }
        }
        return failed
    }

    private func hasUnsentChanges(_ inode: InodeNumber) -> Bool {
        namespace.withLock { (try? $0.node(inode))?.contents?.unsentChanges != nil }
    }

    private func objectName(of inode: InodeNumber) -> ObjectName {
        (try? place(of: inode).name) ?? ObjectName("")
    }

    /// The folder goes on showing what the bucket has.
    private func dropFolderChanges(of inode: InodeNumber) {
        namespace.withLock { space in
            guard let node = try? space.node(inode) else { return }
            node.folderChanges = MetadataChanges(modified: node.folderChanges.modified)
        }
    }

    // MARK: In the journal

    /// Writes down what waits, as a change of the object as it is now.
    func note(_ contents: FileContents, of inode: InodeNumber) throws(FileSystemError) {
        let (name, record, link) = try place(of: inode)
        guard link == .attached, let record else { return }
        let (base, today) = (JournalEntry.Base(record), clock.today())
        try contents.note { (id, changes) throws(FileSystemError) in
            let patch = changes.patch(over: record)
            guard let id else { return try journal.note(patch, of: name, base: base, time: today) }
            try journal.update(id, patch, of: name, base: base, time: today)
            return id
        }
    }

    /// The object is gone, and with it what was to be changed of it, also where an upload was to take that along.
    func forgetUnsent(_ contents: FileContents) {
        if let waiting = contents.unsentChanges { contents.didSend(waiting) }
        forgetNote(of: contents)
    }

    /// Removes the entry once nothing waits.
    func forgetNote(of contents: FileContents) {
        guard let note = contents.takeNote() else { return }
        do throws(FileSystemError) {
            try journal.remove([note])
        } catch {
            log(.warning, "the journal keeps a change that is done: \(error)")
        }
    }
}

extension FileSystemError {
    /// Whether trying again later may help.
    var mayPass: Bool {
        guard case .storage(let error) = self else { return false }
        switch error.kind {
        case .rateLimited, .serverFailed, .unreachable, .timedOut: return true
        case .notFound, .forbidden, .unauthenticated, .preconditionFailed, .invalidRequest, .tooLarge, .quotaExceeded,
            .rangeNotSatisfiable, .generationChanged, .corrupted, .malformedAnswer, .sourceFailed, .unsupported,
            .cancelled:
            return false
        }
    }
}
