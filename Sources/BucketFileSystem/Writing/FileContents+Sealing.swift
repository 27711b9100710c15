import Locking
import ObjectStore

/// Content whose close is answered before the bucket has it (`--write-back`).
extension FileContents.State {
    /// What is staged is what was sealed.
    var isSealed: Bool { sealed != nil && sealed?.staged.file === staged?.file }

    /// The sealed content.
    var sealedSnapshot: FileContents.Snapshot? {
        guard let sealed, !sealed.isSuperseded else { return nil }
        let file = sealed.staged.file
        return FileContents.Snapshot(
            file: file, origin: file, isFrozen: true, size: sealed.staged.size, version: sealed.staged.version,
            changes: changes, checksum: sealed.checksum, missingBase: [], base: nil)
    }

    /// The bucket has `snapshot`: content that was sealed as it, or before it, need not be stored any more. Answers the
    /// entry of what was sealed before it, in a file of its own.
    mutating func dropSealed(upTo snapshot: FileContents.Snapshot) -> StagedEntry? {
        guard let sealed else { return nil }
        if sealed.staged.file === snapshot.origin {
            if sealed.staged.version <= snapshot.version { self.sealed = nil }
            return nil
        }
        // What is staged elsewhere by now was sealed first: then this is newer.
        guard staged?.file === snapshot.origin else { return nil }
        self.sealed = nil
        return sealed.staged.file.entry
    }
}

extension FileContents {
    /// Nothing was changed since the last close.
    var isSealed: Bool { state.withLock { $0.isSealed } }

    /// Something waits to be stored in the background.
    var hasSealed: Bool { state.withLock { $0.isDirty && $0.sealed != nil } }

    /// Sealed content, which is stored from here on: what is sealed next comes after it, not in its place. Call it with
    /// the file's gate passed.
    /// - Returns: nil: there is none.
    func beginStoringSealed() -> Snapshot? {
        state.withLock { state in
            let snapshot = state.sealedSnapshot
            if snapshot != nil { state.sealed!.isUnderWay = true }
            return snapshot
        }
    }

    /// `snapshot`, which is whole, is in the journal for good, and takes the place of what was sealed before.
    /// - Returns: false: the file was changed, sealed or stored meanwhile.
    func sealForLater(
        _ snapshot: Snapshot, as place: Journal.Place, _ changes: MetadataPatch, checksum: UInt32
    ) throws(FileSystemError) -> Bool {
        guard let entry = snapshot.file.entry else { return false }
        let superseded = state.withLock { state -> [StagedEntry] in
            guard let old = state.sealed, old.staged.file !== snapshot.file, !old.isUnderWay,
                let oldEntry = old.staged.file.entry
            else { return [] }
            state.sealed!.isSuperseded = true
            return [oldEntry]
        }
        let seal = StagedEntry.Seal(
            place: place, changes: changes, size: snapshot.size, checksum: checksum, superseded: superseded.map(\.id),
            isDurable: true)
        var isSealed = false
        var before: SealedWrite??
        defer {
            if !isSealed {
                state.withLock { state in
                    // What was sealed before may have been stored meanwhile: it comes back only in our own place.
                    if let before, state.sealed?.staged.file === snapshot.file { state.sealed = before }
                    if !superseded.isEmpty { state.sealed?.isSuperseded = false }
                }
            }
        }
        isSealed = try entry.seal(seal) {
            state.withLock { state in
                // Another who closes the file may have sealed it, and that may be stored by now.
                guard state.isDirty, !state.isSealed, let staged = state.staged, staged.file === snapshot.file,
                    staged.version == snapshot.version, !staged.isBeingWritten, state.changes == snapshot.changes
                else { return false }
                state.staged!.becameBase()
                state.copied = nil
                before = .some(state.sealed)
                state.sealed = SealedWrite(staged: state.staged!, checksum: checksum)
                return true
            }
        }
        if isSealed { for entry in superseded { try entry.disown() } }
        return isSealed
    }

    /// Times or permissions of sealed content were changed: they are as safe as the content.
    func reseal(as place: Journal.Place, _ changes: MetadataPatch) throws(FileSystemError) {
        try state.withLock { $0.sealed?.staged.file.entry }?.amend(place, changes)
    }

    /// An upload of sealed content has failed. Where newer content was sealed since, it is not wanted any more.
    func didFailToStoreSealed(_ snapshot: Snapshot) throws(FileSystemError) {
        let isWanted = state.withLock { state in
            guard state.sealed?.staged.file === snapshot.file else { return false }
            state.sealed!.isUnderWay = false
            return true
        }
        if !isWanted { try snapshot.file.entry?.disown() }
    }

    /// Gives up sealed content that could not be stored, while the file was changed since; the journal keeps it.
    /// Answers its name there.
    func keepSealed(as keptState: JournalEntry.State, because message: String) throws(FileSystemError) -> String? {
        let staged = state.withLock { state in
            defer { state.sealed = nil }
            return state.sealed?.staged
        }
        guard let staged, let entry = staged.file.entry else { return nil }
        try entry.keep(staged, as: keptState, because: message)
        return entry.name
    }

    // MARK: The one task that stores it

    /// False: it is there already.
    func beginStoring() -> Bool {
        state.withLock { state in
            defer { state.isStoring = true }
            return !state.isStoring
        }
    }

    /// False: more was sealed meanwhile.
    func endStoring() -> Bool {
        state.withLock { state in
            if state.isDirty, state.sealed != nil { return false }
            state.isStoring = false
            return true
        }
    }

    // MARK: Failures that nobody was there to hear of

    func remember(_ failure: FileSystemError) { state.withLock { $0.failure = failure } }

    func takeFailure() -> FileSystemError? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }
}
