import CISAL
import Locking
import ObjectStore

/// The bytes of one file: the bucket's version, and over it what was written here and is not stored yet. One per file
/// node that was opened or changed; shared by its handles. Lock order: namespace, then this.
final class FileContents: Sendable {
    /// Storing, renaming, removing and patching follow each other.
    let gate = AsyncGate()
    private let state = Lock(State())

    private struct State {
        /// nil: never opened since the bucket's version changed, or there is none.
        var base: ObjectContent?
        var staged: StagedWrite?
        /// Another object, whose bytes the file shows where nothing is staged: it is being copied.
        var copied: CopiedBase?
        var changes = MetadataChanges()
        /// Bytes or changes that the bucket does not have.
        var isDirty = false
        /// The journal's entry for `changes`, while they wait to be sent by themselves.
        var note: JournalEntry.ID?
        /// Why the last ones could not be sent; told to the next `fsync`.
        var failureToSend: FileSystemError?
        /// Its object is being removed: an open must wait for the outcome.
        var isLeaving = false
        /// Somebody has read the bucket's version through this mount, so the kernel likely has its pages.
        var wasRead = false
        /// The upload that has begun before the file is closed.
        var stream: UploadStream?
        /// Such an upload is worth beginning: everything so far is new, and none has been tried.
        var mayStream = true
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
            guard staged?.version == snapshot.version else { return }
            isDirty = false
            if changes == snapshot.changes { changes = MetadataChanges() }
        }
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

    /// Makes the content to read the bucket's version from, anew when the version is another. Staged bytes that are
    /// whole need none.
    func prepareBase(generation: ObjectGeneration, _ make: () -> ObjectContent) {
        state.withLock { state in
            guard state.base?.objectGeneration != generation else { return }
            state.base = make()
        }
    }

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

    func read(
        _ range: Range<Int64>, cursor: ReadCursor,
        completion: @escaping @Sendable (Result<ReadBytes, FileSystemError>) -> Void
    ) {
        let (base, plan) = state.withLock { state -> (ObjectContent?, StagedRead?) in
            state.wasRead = true
            guard let staged = state.staged else { return (state.base, nil) }
            let end = min(range.upperBound, staged.size)
            guard range.lowerBound < end else {
                return (nil, StagedRead(file: staged.file, segments: [], range: 0..<0))
            }
            let wanted = range.lowerBound..<end
            return (
                state.shownBase, StagedRead(file: staged.file, segments: staged.segments(of: wanted), range: wanted)
            )
        }
        if let plan { return plan.run(base: base, cursor: cursor, completion: completion) }
        guard let base else { return completion(.success(ReadBytes(pieces: []))) }
        base.read(at: range.lowerBound, count: range.count, cursor: cursor) { result in
            completion(result.mapError(FileSystemError.init(reading:)))
        }
    }

    // MARK: Changing

    /// Stages bytes at `offset`, or at the end. `makeStaging` is called when nothing is staged yet.
    func write(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64, appends: Bool, baseSize: Int64, today: Timestamp,
        _ makeStaging: () throws(FileSystemError) -> StagingFile
    ) throws(FileSystemError) {
        try stage(baseSize: baseSize, makeStaging)
        let file = state.withLock { $0.staged!.file }
        let count = Int64(bytes.count)
        var range = offset..<offset + count
        var seed = StagedExtents.Seed.fresh
        var broken: UploadStream?
        defer { broken?.abandon() }
        do throws(FileSystemError) {
            try journal(file) { state in
                if appends { range = state.staged!.size..<state.staged!.size + count }
                state.isDirty = true
                state.isGivenUp = false
                broken = state.breakStream(byChangeAt: range.lowerBound)
                let doubted: StagedExtents.Change
                (seed, doubted) = state.staged!.beginWrite(range)
                return doubted.isEmpty ? nil : StagedEntry.Step(change: doubted, staged: state.staged!)
            }
            try unsafe file.write(bytes, at: range.lowerBound)
        } catch {
            state.withLock { $0.staged!.abortWrite(range) }
            throw error
        }
        let crc = unsafe firemount_crc32c(seed.checksum, bytes.baseAddress, bytes.count)
        try journal(file) { state in
            let change = state.staged!.endWrite(range, seed: seed, crc: crc)
            state.changes.modified = today
            state.changes.changed = today
            if let stream = state.stream, let end = state.staged!.checksum?.end { stream.grew(to: end) }
            return StagedEntry.Step(change: change, staged: state.staged!)
        }
    }

    /// Makes a change and has it written down before it returns.
    private func journal(_ file: StagingFile, _ change: (inout State) -> StagedEntry.Step?) throws(FileSystemError) {
        // What comes from another object cannot be told of there; until the file is closed nobody was promised
        // anything.
        guard let entry = file.entry, state.withLock({ $0.copied == nil }) else {
            state.withLock { _ = change(&$0) }
            return
        }
        try entry.record { state.withLock { change(&$0) } }
    }

    /// Cuts or grows the file.
    func truncate(
        to size: Int64, baseSize: Int64, today: Timestamp, _ makeStaging: () throws(FileSystemError) -> StagingFile
    ) throws(FileSystemError) {
        try stage(baseSize: baseSize, makeStaging)
        let file = state.withLock { $0.staged!.file }
        var broken: UploadStream?
        defer { broken?.abandon() }
        try journal(file) { state in
            state.isDirty = true
            state.changes.modified = today
            state.changes.changed = today
            if size < state.staged!.size { broken = state.breakStream(byChangeAt: size) }
            if size == 0 { state.mayStream = true }
            let change = state.staged!.truncate(to: size)
            return StagedEntry.Step(change: change, isResized: true, staged: state.staged!)
        }
        try file.truncate(to: size)
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

    /// The entry of changes that wait; a new one comes of `make`.
    func note(
        _ make: (JournalEntry.ID?) throws(FileSystemError) -> JournalEntry.ID
    ) throws(FileSystemError) {
        let id = try make(state.withLock { $0.note })
        state.withLock { $0.note = id }
    }

    /// The entry, once nothing waits any more.
    func takeNote() -> JournalEntry.ID? {
        state.withLock { state in
            guard state.isDirty || state.changes.isEmpty else { return nil }
            return state.note.take()
        }
    }

    func takeFailureToSend() -> FileSystemError? { state.withLock { $0.failureToSend.take() } }

    private func stage(
        baseSize: Int64, _ makeStaging: () throws(FileSystemError) -> StagingFile
    ) throws(FileSystemError) {
        guard state.withLock({ $0.staged == nil }) else { return }
        let file = try makeStaging()
        state.withLock { state in
            if state.staged == nil { state.staged = StagedWrite(file: file, baseSize: baseSize) }
        }
    }

    // MARK: Storing

    /// One state of the file to be stored.
    struct Snapshot {
        let file: StagingFile
        let size: Int64
        let version: UInt64
        let changes: MetadataChanges
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
            let checksum = staged.checksum.flatMap { $0.end == staged.size ? $0.crc : nil }
            return Snapshot(
                file: staged.file, size: staged.size, version: staged.version, changes: state.changes,
                checksum: checksum, missingBase: staged.missingBase, base: state.shownBase,
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
        return state.withLock { state in
            guard let staged = state.staged, !staged.missingBase.isEmpty else { return nil }
            return Snapshot(
                file: staged.file, size: staged.size, version: staged.version, changes: state.changes, checksum: nil,
                missingBase: staged.missingBase, base: state.shownBase, copied: state.copied)
        }
    }

    /// Everything is in the staging file; the bucket's version is no longer needed.
    func didSaveForHolders() {
        state.withLock { state in
            state.staged?.becameBase()
            state.copied = nil
        }
    }

    func isUnchanged(since version: UInt64) -> Bool { state.withLock { $0.staged?.version == version } }

    /// Puts bytes of the bucket's version into the staging file, except where something newer is or is being written.
    func fill(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) {
        let end = offset + Int64(bytes.count)
        // The lock spans the write to the staging disk: a newer write to the same place must come after this one.
        try state.withLock { state throws(FileSystemError) in
            guard let file = state.staged?.file else { return }
            for gap in state.staged!.fillable(offset..<end) {
                let piece = unsafe UnsafeRawBufferPointer(
                    rebasing: bytes[Int(gap.lowerBound - offset)..<Int(gap.upperBound - offset)])
                try unsafe file.write(piece, at: gap.lowerBound)
                state.staged!.didFill(gap)
            }
        }
    }

    /// What `fill` has put in is damaged.
    func dropFilled() { state.withLock { $0.staged?.dropFilled() } }

    /// A copy of the present state that no write disturbs: for a file that is written faster than it can be stored.
    func frozenCopy(into copy: StagingFile) throws(FileSystemError) -> Snapshot? {
        try state.withLock { state throws(FileSystemError) -> Snapshot? in
            guard state.isDirty, let staged = state.staged else { return nil }
            try staged.file.copy(into: copy, size: staged.size)
            return Snapshot(
                file: copy, size: staged.size, version: staged.version, changes: state.changes, checksum: nil,
                missingBase: [], base: nil)
        }
    }

    /// `snapshot` is on its way to the bucket as `place` says; after a crash it is still to be stored. A file that was
    /// changed meanwhile is not.
    func seal(_ snapshot: Snapshot, _ seal: StagedEntry.Seal) throws(FileSystemError) {
        try snapshot.file.entry?.seal(seal) { isUnchanged(since: snapshot.version) }
    }

    /// The bucket has `snapshot`, as `place` says. What was written since stays dirty.
    func didStore(_ snapshot: Snapshot, as place: Journal.Place) throws(FileSystemError) {
        let (base, file) = state.withLock { state -> (ObjectContent?, StagingFile?) in
            state.staged?.becameBase()
            state.mayStream = false
            state.copied = nil
            state.didStore(snapshot)
            defer { state.base = nil }
            return (state.base, state.staged?.file)
        }
        base?.discard()
        try file?.entry?.stored(as: place, rest: state.withLock { $0.isDirty ? $0.staged : nil })
    }

    /// The bucket has made `snapshot` of what it has; `content` is that. Most of it is not in the staging file.
    func didStore(
        _ snapshot: Snapshot, as place: Journal.Place, content: ObjectContent
    ) throws(FileSystemError) {
        let (old, file) = state.withLock { state -> (ObjectContent?, StagingFile?) in
            if state.staged?.version == snapshot.version { state.staged?.becameBaseThroughout() }
            state.mayStream = false
            state.copied = nil
            state.didStore(snapshot)
            defer { state.base = content }
            return (state.base, state.staged?.file)
        }
        old?.discard()
        try file?.entry?.stored(as: place, rest: state.withLock { $0.isDirty ? $0.staged : nil })
    }

    // MARK: Copying another object

    /// The bucket's version, if the file shows nothing else.
    var unchangedBase: ObjectContent? {
        state.withLock { $0.staged == nil && !$0.isDirty ? $0.base : nil }
    }

    /// The file, which has nothing else, goes on with the bytes of `source` from `offset` to `end`. Answers false, and
    /// does nothing, if it is another file than that.
    func copy(_ source: CopiedBase, from offset: Int64, to end: Int64, today: Timestamp) -> Bool {
        state.withLock { state in
            guard let staged = state.staged, staged.size == offset, staged.untouchedBase == offset,
                staged.staged.isEmpty, offset == 0 || state.copied?.content === source.content
            else { return false }
            state.copied = source
            state.mayStream = false
            state.staged?.growFromBase(to: end)
            state.isDirty = true
            state.changes.modified = today
            state.changes.changed = today
            return true
        }
    }

    /// The object goes by another name, generation or headers now.
    func journalMove(to place: Journal.Place, replacing replaced: FileContents? = nil) throws(FileSystemError) {
        let (entry, other) = (entry, replaced?.entry)
        guard let entry else { return try other?.disown() ?? () }
        try entry.move(to: place, removing: other.map { [$0.id] } ?? [])
        try other?.disown()
    }

    private var entry: StagedEntry? { state.withLock { $0.staged?.file.entry } }

    /// The file has lost its name.
    func disown() throws(FileSystemError) { try entry?.disown() }

    /// The last handle is closed.
    func dropStagedIfClean() {
        state.withLock { state in
            if !state.isDirty { state.staged = nil }
        }
    }

    /// Gives up what could not be stored; the journal keeps it. Answers its name there; nil if there was nothing.
    func keepUnsaved(
        as keptState: JournalEntry.State, because message: String
    ) throws(FileSystemError) -> String? {
        let (staged, stream) = state.withLock { state -> (StagedWrite?, UploadStream?) in
            let unsaved = state.isDirty ? state.staged : nil
            state.staged = nil
            state.isDirty = false
            state.changes = MetadataChanges()
            return (unsaved, state.takeStream())
        }
        stream?.abandon()
        guard let staged, let entry = staged.file.entry else { return nil }
        try entry.keep(staged, as: keptState, because: message)
        return entry.name
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

    // MARK: Uploads that begin before the file is closed

    var stream: UploadStream? { state.withLock { $0.stream } }

    /// Whether the file should begin to leave: everything of it is new, and it is written from its start on. True once.
    func isDueToStream(from threshold: Int64) -> Bool {
        state.withLock { state in
            guard state.mayStream, let end = state.staged?.checksum?.end, end >= threshold else { return false }
            state.mayStream = false
            return true
        }
    }

    /// - Parameter make: is given the staging file and how many of its first bytes are there.
    /// - Returns: nil: it was changed meanwhile.
    func beginStream(_ make: (StagingFile, Int64) -> UploadStream) -> UploadStream? {
        state.withLock { state in
            guard state.stream == nil, state.isDirty, let staged = state.staged, let end = staged.checksum?.end else {
                return nil
            }
            state.stream = make(staged.file, end)
            return state.stream
        }
    }

    /// It has come to its end, or is of no use.
    func end(_ stream: UploadStream) {
        state.withLock { state in
            if state.stream === stream { state.stream = nil }
        }
    }

    /// Nothing of it shall be stored: the file goes by another name now.
    func abandonStream() {
        let stream = state.withLock { $0.takeStream() }
        stream?.abandon()
    }
}
