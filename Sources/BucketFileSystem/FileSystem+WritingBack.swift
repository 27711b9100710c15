import Locking
import Logging
import ObjectStore

/// `--write-back`: `close` answers once the journal has the bytes for good, and uploads follow in the background. What
/// happens to one name keeps its order by the file's gate.
extension FileSystem {
    /// A close is passing by.
    func storeAtClose(_ inode: InodeNumber) async throws(FileSystemError) {
        guard configuration.writesBack, !stagingBudget.isTight else { return try await storeChanges(of: inode) }
        let contents = try contents(of: inode)
        guard contents.isDirty, !contents.isSealed else {
            if let failure = contents.takeFailure() { throw failure }
            return
        }
        if let error = contents.spoiled { throw error }
        // What the bucket makes of its own bytes needs no bytes here.
        if let snapshot = contents.snapshot(),
            snapshot.copied != nil || snapshot.untouchedBase >= configuration.appendLimit
        {
            return try await storeChanges(of: inode)
        }
        // A file that is being written all the time cannot be sealed.
        for _ in 0..<3 {
            let (name, _, link) = try place(of: inode)
            guard link != .unlinked else { return forgetRemoved(contents, name) }
            if try await seal(contents, inode) { return storeInBackground(inode, contents) }
        }
        try await storeChanges(of: inode)
    }

    private func seal(_ contents: FileContents, _ inode: InodeNumber) async throws(FileSystemError) -> Bool {
        guard var snapshot = contents.snapshot(), !snapshot.isFrozen else { return true }
        if !snapshot.missingBase.isEmpty {
            let whole = try await contents.gate.pass { () async throws(FileSystemError) -> FileContents.Snapshot? in
                guard let snapshot = contents.snapshot() else { return nil }
                let record = try place(of: inode).record
                try await fill(contents, snapshot, of: record)
                return contents.snapshot()
            }
            guard let whole, whole.missingBase.isEmpty else { return whole == nil }
            snapshot = whole
        }
        let (sent, changes) = try sealedPlace(of: inode, snapshot.changes)
        let isSealed = try await onStagingQueue { [snapshot] () throws(FileSystemError) in
            let known = snapshot.checksum
            let checksum = if let known { known } else { try snapshot.file.checksum(size: snapshot.size) }
            try snapshot.file.synchronize()
            return try contents.sealForLater(snapshot, as: sent, changes, checksum: checksum)
        }
        // What was closed before may have been stored meanwhile: then this is based on that.
        if isSealed, try sealedPlace(of: inode, snapshot.changes).0.base != sent.base {
            journalMove(of: inode)
            resealChanges(of: inode, contents)
        }
        return isSealed
    }

    /// What an upload of the file would say now.
    private func sealedPlace(
        of inode: InodeNumber, _ changes: MetadataChanges
    ) throws(FileSystemError) -> (Journal.Place, MetadataPatch) {
        let (name, record, replaced) = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return (space.objectName(of: node), node.record, node.replaces)
        }
        let sent = headers(for: name, over: record, changes)
        return (
            Journal.Place(object: name, base: JournalEntry.Base(record ?? replaced), headers: sent),
            MetadataPatch(from: record?.metadata.headers ?? ObjectHeaders(), to: sent)
        )
    }

    /// Times and permissions set after a close are in the journal as well.
    func resealChanges(of inode: InodeNumber, _ contents: FileContents) {
        guard contents.hasSealed, let (place, patch) = try? sealedPlace(of: inode, contents.localAttributes.changes)
        else { return }
        journaling(place.object) { () throws(FileSystemError) in try contents.reseal(as: place, patch) }
    }

    private func storeInBackground(_ inode: InodeNumber, _ contents: FileContents) {
        guard contents.beginStoring() else { return }
        // The node stays as long as it has something to store, whether or not the kernel remembers it.
        namespace.withLock { space in (try? space.node(inode))?.pins += 1 }
        afterwork.start { [self] in
            repeat { await storeSealed(inode, contents) } while !contents.endStoring()
            endStoring(inode, contents)
        }
    }

    private func endStoring(_ inode: InodeNumber, _ contents: FileContents) {
        let staged = namespace.withLock { space -> StagedEntry? in
            guard let node = try? space.node(inode) else { return nil }
            node.pins -= 1
            defer { space.dropIfUnused(node) }
            return node.handles == 0 ? contents.dropStagedIfClean() : nil
        }
        disown(staged)
    }

    /// Until the bucket has what was sealed, or has refused it, or the mount ends.
    private func storeSealed(_ inode: InodeNumber, _ contents: FileContents) async {
        var attempt = 0
        while contents.hasSealed {
            do throws(FileSystemError) {
                await uploadSlots.enter()
                defer { uploadSlots.leave() }
                try await storeChanges(of: inode, sealedOnly: true)
            } catch {
                attempt += 1
                if error.mayPass {
                    log(.warning, "an upload in the background waits: \(error.words)")
                    if await patience.wait(before: attempt) { continue }
                }
                giveUpSealed(inode, contents, because: error)
            }
        }
    }

    /// Where the mount ends before the network is back, the next one goes on.
    private func giveUpSealed(_ inode: InodeNumber, _ contents: FileContents, because error: FileSystemError) {
        contents.remember(error)
        if contents.isSealed || contents.spoiled != nil {
            let name = keepUnsaved(inode, because: error)
            failures.withLock { $0[name] = error }
            return
        }
        let name = (try? place(of: inode).name) ?? ObjectName("")
        journaling(name) { () throws(FileSystemError) in
            let state = error.keptState(wasClosed: true)
            // Else it was removed meanwhile.
            guard let kept = try contents.keepSealed(as: state, because: error.words) else { return }
            let waysOut = JournalEntry.waysOut(kept, state)
            log(.error, "\(name) could not be stored (\(error.words)); it is kept: \(waysOut)")
        }
    }

    /// Why the last content of this name could not be stored, told once.
    func takeFailure(of inode: InodeNumber) -> FileSystemError? {
        guard configuration.writesBack, let name = try? place(of: inode).name else { return nil }
        return failures.withLock { $0.removeValue(forKey: name) }
    }
}
