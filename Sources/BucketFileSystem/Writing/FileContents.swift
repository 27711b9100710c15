import CISAL
import Locking
import ObjectStore

/// The bytes of one file: the bucket's version, and over it what was written here and is not stored yet. One per file
/// node that was opened or changed; shared by its handles. Lock order: namespace, then this.
final class FileContents: Sendable {
    /// Storing, renaming, removing and patching follow each other.
    let gate = AsyncGate()
    let state = Lock(State())
    /// The journal's entry for changes that wait to be sent by themselves. Held while the journal is written, so that
    /// what is sent in that moment leaves no entry behind. Lock order: this, `state`.
    private let note = Lock<JournalEntry.ID?>(nil)

    struct State {
        /// nil: never opened since the bucket's version changed, or there is none.
        var base: ObjectContent?
        /// Counts how often what was fetched of the bucket's version was damaged and is fetched anew. Handles of an
        /// earlier round may have been shown damaged bytes, by the kernel too, and get no more.
        var readingRound = 0
        var staged: StagedWrite?
        /// Another object, whose bytes the file shows where nothing is staged: it is being copied.
        var copied: CopiedBase?
        var changes = MetadataChanges()
        /// Bytes or changes that the bucket does not have.
        var isDirty = false
        /// Why the last ones could not be sent; told to the next `fsync`.
        var failureToSend: FileSystemError?
        /// Its object is being removed: an open must wait for the outcome.
        var isLeaving = false
        /// Content whose close was answered, and which is still to be stored. As long as it is what is staged as well,
        /// nothing was changed since.
        var sealed: SealedWrite?
        /// Storing `sealed` goes on in the background.
        var isStoring = false
        /// Why content whose close was answered could not be stored: for the next open or `fsync`.
        var failure: FileSystemError?
        /// Where a write failed.
        var spoiled: (offset: Int64, error: FileSystemError)?
        /// Somebody has read the bucket's version through this mount, so the kernel likely has its pages.
        var wasRead = false
        /// The upload that has begun before the file is closed.
        var stream: UploadStream?
        /// Such an upload is worth beginning: everything so far is new, and none has been tried.
        var mayStream = true
        /// What uploads sent that ended without an answer.
        var unanswered: [SentContent] = []
        /// Somebody cancelled storing it; a write makes it worth storing again.
        var isGivenUp = false

        /// Bytes at and above `offset` are about to change. Answers the upload that cannot go on.
        mutating func breakStream(byChangeAt offset: Int64) -> UploadStream? {
            guard let stream, stream.breaks(byChangeAt: offset) else { return nil }
            self.stream = nil
            return stream
        }

        mutating func takeStream() -> UploadStream? {
            defer { stream = nil }
            return stream
        }

        var shownBase: ObjectContent? { copied?.content ?? base }

        /// Changes of metadata that came while it was stored are for a patch; only bytes make another upload due.
        mutating func didStore(_ snapshot: Snapshot) {
            unanswered = []
            guard staged?.version == snapshot.version else { return }
            isDirty = false
            if changes == snapshot.changes { changes = MetadataChanges() }
        }

        /// nil: the staging file has all of it.
        func unfilledSnapshot() -> Snapshot? {
            guard let staged, !staged.missingBase.isEmpty else { return nil }
            return Snapshot(
                file: staged.file, origin: staged.file, size: staged.size, version: staged.version, changes: changes,
                checksum: nil, missingBase: staged.missingBase, base: shownBase, copied: copied)
        }

        func isChangeable(_ file: StagingFile) -> Bool { staged?.file === file && sealed?.staged.file !== file }

        mutating func writeFailed(
            _ range: Range<Int64>, of file: StagingFile, hasBegun: Bool, _ error: FileSystemError
        ) {
            guard staged?.file === file else { return }
            if hasBegun { staged!.abortWrite(range) }
            if spoiled.map({ $0.offset > range.lowerBound }) ?? true { spoiled = (range.lowerBound, error) }
        }
    }

    /// One state of the file that is to be stored in the background.
    struct SealedWrite {
        let staged: StagedWrite
        let checksum: UInt32
        /// Its upload has begun.
        var isUnderWay = false
        /// A newer one is being sealed: this one need not be stored any more.
        var isSuperseded = false
    }

    /// An object that is being copied, as it is read and as the bucket knows it.
    struct CopiedBase {
        let content: ObjectContent
        let record: FileRecord
    }

    /// What `stat` shows instead of the record's; size nil: the record's.
    struct LocalAttributes {
        var size: Int64?
        var changes: MetadataChanges
    }

    var isStaged: Bool { state.withLock { $0.staged != nil } }
    var isDirty: Bool { state.withLock { $0.isDirty } }
    /// Made or cut to nothing, and no byte has come since.
    var isEmptyAndUnwritten: Bool {
        state.withLock { state in
            state.staged.map { $0.size == 0 && $0.staged.isEmpty && $0.missingBase.isEmpty } ?? false
        }
    }
    var localAttributes: LocalAttributes {
        state.withLock { LocalAttributes(size: $0.staged?.size, changes: $0.changes) }
    }

    var isLeaving: Bool { state.withLock { $0.isLeaving } }

    /// - Parameter isLeaving: false when the removal has come to its end, or failed.
    func setLeaving(_ isLeaving: Bool) { state.withLock { $0.isLeaving = isLeaving } }

    // MARK: The bucket's version

    /// Makes the content to read the bucket's version from, anew when the version is another, or what was fetched of it
    /// is damaged. Staged bytes that are whole need none.
    func prepareBase(generation: ObjectGeneration, _ make: () -> ObjectContent) {
        // What was there ends with this reference, not under the lock.
        let old = state.withLock { state -> ObjectContent? in
            let isDamaged = state.base?.isDamaged ?? false
            guard isDamaged || state.base?.objectGeneration != generation else { return nil }
            if isDamaged {
                state.readingRound += 1
                state.wasRead = false
            }
            defer { state.base = make() }
            return state.base
        }
        withExtendedLifetime(old) {}
    }

    var readingRound: Int { state.withLock { $0.readingRound } }

    /// The bucket's version if opening the file for reading should fetch its beginning: none of it is here, and the
    /// kernel is not likely to have it either.
    func unreadBase(isFresh: Bool) -> ObjectContent? {
        state.withLock { state in
            guard state.staged == nil, let base = state.base, base.size > 0, !base.holdsBeginning else { return nil }
            return state.wasRead && isFresh ? nil : base
        }
    }

    /// The object goes by another name and generation now, with the same bytes.
    func relocate(to name: ObjectName, objectGeneration: ObjectGeneration) {
        state.withLock { $0.base }?.relocate(to: name, objectGeneration: objectGeneration)
    }

    /// What was read of the bucket's version is fetched again, by the kernel too.
    func forgetRead() {
        let base = state.withLock { state in
            state.wasRead = false
            return state.base
        }
        base?.discard()
    }

    /// The kernel has forgotten the file.
    func discard() {
        let base = state.withLock { state -> ObjectContent? in
            defer { state.base = nil }
            return state.base
        }
        base?.discard()
    }

    // MARK: Reading

    /// - Parameter round: in which the reading handle was opened.
    func read(
        _ range: Range<Int64>, cursor: ReadCursor, round: Int,
        completion: @escaping @Sendable (Result<ReadBytes, FileSystemError>) -> Void
    ) {
        let (base, plan, isOutdated) = state.withLock { state -> (ObjectContent?, StagedRead?, Bool) in
            state.wasRead = true
            let isOutdated = round != state.readingRound
            guard let staged = state.staged else { return (state.base, nil, isOutdated) }
            let end = min(range.upperBound, staged.size)
            guard range.lowerBound < end else {
                return (nil, StagedRead(file: staged.file, segments: [], range: 0..<0), false)
            }
            let wanted = range.lowerBound..<end
            let plan = StagedRead(file: staged.file, segments: staged.segments(of: wanted), range: wanted)
            return (state.shownBase, plan, isOutdated && plan.needsBase)
        }
        if isOutdated { return completion(.failure(.wasShownDamage)) }
        if let plan { return plan.run(base: base, cursor: cursor, completion: completion) }
        guard let base else { return completion(.success(ReadBytes(pieces: []))) }
        base.read(at: range.lowerBound, count: range.count, cursor: cursor) { result in
            completion(result.mapError(FileSystemError.init(reading:)))
        }
    }

    // MARK: Changing

    /// Stages bytes at `offset`, or at the end. `makeStaging` is called when there is no file to stage them in.
    func write(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64, appends: Bool, baseSize: Int64, today: Timestamp,
        _ makeStaging: () throws(FileSystemError) -> StagingFile
    ) throws(FileSystemError) {
        while true {
            let file = try changeableFile(baseSize: baseSize, keepsBytes: true, makeStaging)
            if try unsafe write(bytes, at: appends ? nil : offset, into: file, today: today) { return }
        }
    }

    /// False, with nothing done: the file is staged elsewhere by now.
    private func write(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64?, into file: StagingFile, today: Timestamp
    ) throws(FileSystemError) -> Bool {
        let count = Int64(bytes.count)
        var range = (offset ?? 0)..<(offset ?? 0) + count
        let new = state.withLock { state in offset == nil ? count : state.staged?.newCount(in: range) ?? 0 }
        var seed: StagedExtents.Seed?
        var isReserved = false
        var broken: UploadStream?
        defer { broken?.abandon() }
        do throws(FileSystemError) {
            try file.reserve(new)
            isReserved = true
            try journal(file) { state in
                if offset == nil { range = state.staged!.size..<state.staged!.size + count }
                state.isDirty = true
                state.isGivenUp = false
                broken = state.breakStream(byChangeAt: range.lowerBound)
                let (begun, doubted) = state.staged!.beginWrite(range)
                seed = begun
                return doubted.isEmpty ? nil : StagedEntry.Step(change: doubted, staged: state.staged!)
            }
            if seed != nil { try unsafe file.write(bytes, at: range.lowerBound) }
        } catch {
            state.withLock { $0.writeFailed(range, of: file, hasBegun: seed != nil, error) }
            if isReserved { file.giveBack(new) }
            throw error
        }
        guard let seed else {
            file.giveBack(new)
            return false
        }
        let crc = unsafe firemount_crc32c(seed.checksum, bytes.baseAddress, bytes.count)
        do throws(FileSystemError) {
            try journal(file) { state in
                let change = state.staged!.endWrite(range, seed: seed, crc: crc)
                state.changes.modified = today
                state.changes.changed = today
                if let spoiled = state.spoiled, range.contains(spoiled.offset) { state.spoiled = nil }
                if let stream = state.stream, let end = state.staged!.checksum?.end { stream.grew(to: end) }
                return StagedEntry.Step(change: change, staged: state.staged!)
            }
        } catch {
            state.withLock { $0.writeFailed(range, of: file, hasBegun: false, error) }
            throw error
        }
        return true
    }

    /// Makes a change and has it written down before it returns. Nothing is done if the file is staged elsewhere by
    /// now, or is sealed.
    private func journal(_ file: StagingFile, _ change: (inout State) -> StagedEntry.Step?) throws(FileSystemError) {
        func decide() -> StagedEntry.Step? {
            state.withLock { state in
                guard state.isChangeable(file) else { return nil }
                let step = change(&state)
                // What comes from another object cannot be told of there; until the file is closed nobody was promised
                // anything.
                return state.copied == nil ? step : nil
            }
        }
        if let entry = file.entry { try entry.record(decide) } else { _ = decide() }
    }

    /// Cuts or grows the file.
    func truncate(
        to size: Int64, baseSize: Int64, today: Timestamp, _ makeStaging: () throws(FileSystemError) -> StagingFile
    ) throws(FileSystemError) {
        var isDone = false
        var broken: UploadStream?
        defer { broken?.abandon() }
        while !isDone {
            let file = try changeableFile(baseSize: baseSize, keepsBytes: size > 0, makeStaging)
            try journal(file) { state in
                isDone = true
                state.isDirty = true
                state.changes.modified = today
                state.changes.changed = today
                if let spoiled = state.spoiled, size <= spoiled.offset { state.spoiled = nil }
                if size < state.staged!.size { broken = state.breakStream(byChangeAt: size) }
                if size == 0 { state.mayStream = true }
                let change = state.staged!.truncate(to: size)
                return StagedEntry.Step(change: change, isResized: true, staged: state.staged!)
            }
            guard isDone else { continue }
            try file.truncate(to: size)
            file.giveBack(allBut: state.withLock { $0.staged?.presentCount ?? 0 })
        }
    }

    /// An empty file that the bucket does not have yet.
    func stageNew(_ file: StagingFile, changes: MetadataChanges) {
        state.withLock { state in
            state.staged = StagedWrite(file: file, baseSize: 0)
            state.changes = changes
            state.isDirty = true
        }
    }

    /// Times and permissions that go along with the next upload. Answers false, and takes nothing, when none is due.
    func addChangesIfDirty(_ changes: MetadataChanges) -> Bool {
        state.withLock { state in
            guard state.isDirty else { return false }
            state.changes = state.changes.merged(with: changes)
            return true
        }
    }

    // MARK: Changes of metadata that wait

    /// Takes changes that no upload is due for. Answers whether they are the first; nil if an upload takes them along.
    func addUnsent(_ changes: MetadataChanges) -> Bool? {
        state.withLock { state in
            let isFirst = state.changes.isEmpty
            state.changes = state.changes.merged(with: changes)
            return state.isDirty ? nil : isFirst
        }
    }

    /// What the bucket is to have by itself; nil: nothing, or an upload takes it along.
    var unsentChanges: MetadataChanges? {
        state.withLock { $0.isDirty || $0.changes.isEmpty ? nil : $0.changes }
    }

    /// The bucket has `changes`, or never will. What was set since stays.
    func didSend(_ changes: MetadataChanges, failure: FileSystemError? = nil) {
        state.withLock { state in
            if let failure { state.failureToSend = failure }
            if !state.isDirty, state.changes == changes { state.changes = MetadataChanges() }
        }
    }

    /// Writes down what waits, if anything does: `write` is given the entry there is, and answers the one there is
    /// then.
    func note(
        _ write: (JournalEntry.ID?, MetadataChanges) throws(FileSystemError) -> JournalEntry.ID
    ) throws(FileSystemError) {
        try note.withLock { note throws(FileSystemError) in
            guard let changes = unsentChanges else { return }
            note = try write(note, changes)
        }
    }

    /// The entry, once nothing waits any more.
    func takeNote() -> JournalEntry.ID? {
        note.withLock { note in unsentChanges == nil ? note.take() : nil }
    }

    func takeFailureToSend() -> FileSystemError? { state.withLock { $0.failureToSend.take() } }

    func stage(
        baseSize: Int64, _ makeStaging: () throws(FileSystemError) -> StagingFile
    ) throws(FileSystemError) {
        guard state.withLock({ $0.staged == nil }) else { return }
        let file = try makeStaging()
        state.withLock { state in
            if state.staged == nil { state.staged = StagedWrite(file: file, baseSize: baseSize) }
        }
    }

    /// The file to stage changes in. What is sealed stays as it is: the first change after it goes to a copy.
    /// - Parameter keepsBytes: false: all bytes are about to be cut off.
    private func changeableFile(
        baseSize: Int64, keepsBytes: Bool, _ makeStaging: () throws(FileSystemError) -> StagingFile
    ) throws(FileSystemError) -> StagingFile {
        try stage(baseSize: baseSize, makeStaging)
        let (staged, isSealed) = state.withLock { state in
            (state.staged!, state.sealed?.staged.file === state.staged!.file)
        }
        guard isSealed else { return staged.file }
        let copy = try makeStaging()
        if keepsBytes { try staged.file.copy(into: copy, size: staged.size) }
        var stream: UploadStream?
        defer { stream?.abandon() }
        return state.withLock { state in
            // Another caller may have made a copy meanwhile.
            guard let now = state.staged, now.file === staged.file else { return state.staged?.file ?? copy }
            stream = state.takeStream()
            var changed = now.copied(to: copy)
            if !keepsBytes { _ = changed.truncate(to: 0) }
            state.staged = changed
            return copy
        }
    }

    /// A write failed and no other has taken its place: what is there must not be stored as if it were all.
    var spoiled: FileSystemError? { state.withLock { $0.spoiled?.error } }

    // MARK: Storing

    /// One state of the file to be stored.
    struct Snapshot {
        let file: StagingFile
        /// The file's own staging file, of which `file` may be a copy.
        let origin: StagingFile
        /// No write changes `file` any more.
        var isFrozen = false
        let size: Int64
        let version: UInt64
        var changes: MetadataChanges
        /// Of all bytes, if it was kept while they were written.
        let checksum: UInt32?
        let missingBase: [Range<Int64>]
        let base: ObjectContent?
        /// Bytes from the start on that are still the base's.
        var untouchedBase: Int64 = 0
        var copied: CopiedBase?
    }

    /// nil: there is nothing to store.
    func snapshot() -> Snapshot? {
        state.withLock { state in
            guard state.isDirty, let staged = state.staged else { return nil }
            if state.isSealed { return state.sealedSnapshot }
            let checksum = staged.checksum.flatMap { $0.end == staged.size ? $0.crc : nil }
            return Snapshot(
                file: staged.file, origin: staged.file, size: staged.size, version: staged.version,
                changes: state.changes, checksum: checksum, missingBase: staged.missingBase, base: state.shownBase,
                untouchedBase: staged.untouchedBase, copied: state.copied)
        }
    }

    /// How much of the bucket's version, of `size` bytes, is not in the staging file.
    func missingBytes(of size: Int64) -> Int64 {
        state.withLock { state in
            state.staged.map { $0.missingBase.reduce(0) { $0 + Int64($1.count) } } ?? size
        }
    }

    /// For a file that is about to lose its object: what is still to be fetched; nil when nothing is.
    func snapshotForHolders(
        baseSize: Int64, _ makeStaging: () throws(FileSystemError) -> StagingFile
    ) throws(FileSystemError) -> Snapshot? {
        try stage(baseSize: baseSize, makeStaging)
        return state.withLock { $0.unfilledSnapshot() }
    }

    /// The same, for a file that is copying one which is about to lose or change its object.
    func snapshotOfCopy() -> Snapshot? { state.withLock { $0.copied == nil ? nil : $0.unfilledSnapshot() } }

    /// The last handle is closed. Answers the journal's entry of what goes: it must go too, if it is still there.
    func dropStagedIfClean() -> StagedEntry? {
        state.withLock { state in
            guard !state.isDirty else { return nil }
            return state.staged.take()?.file.entry
        }
    }

    /// The file lost its name while it is open: its bytes stay for the holders, and nothing is stored.
    func forgetUnsaved() {
        let stream = state.withLock { state in
            state.isDirty = false
            return state.takeStream()
        }
        stream?.abandon()
    }

    var isGivenUp: Bool { state.withLock { $0.isGivenUp } }

    func giveUp() { state.withLock { $0.isGivenUp = true } }
}
