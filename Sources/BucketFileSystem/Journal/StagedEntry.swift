import Locking
import ObjectStore

/// The journal's entry for one staging file: put in with the first change of the file, in step with every further one,
/// and gone when the bucket has the bytes. Owned by its `StagingFile`; callable from any thread.
///
/// Its lock is the one that is held while the journal is written (memory of the system, not the network): rows must
/// follow in the order in which the changes were decided. Lock order: this, file contents.
final class StagedEntry: Sendable {
    let journal: Journal
    let id: JournalEntry.ID
    private let file: String
    private let time: Timestamp
    private let state: Lock<State>

    private struct State {
        var place: Journal.Place
        var phase = Phase.unrecorded
    }

    private enum Phase {
        /// Nothing of the file is worth keeping: no row.
        case unrecorded
        case open
        case sealed
        /// The row and the staging file outlive this object.
        case kept
        /// Nobody will ever want it: the file lost its name.
        case disowned
    }

    /// A change as it was decided under the file's own lock.
    struct Step {
        var change = StagedExtents.Change()
        /// The file's size changed otherwise than by writing.
        var isResized = false
        /// What the row must say if there is none yet.
        var staged: StagedWrite
    }

    init(journal: Journal, place: Journal.Place, file: String, time: Timestamp) {
        self.journal = journal
        self.file = file
        self.time = time
        id = journal.nextID()
        state = Lock(State(place: place))
    }

    /// For people: `a1B2c3-17`.
    var name: String { "\(journal.directory.shortName)-\(id.rawValue)" }

    var outlivesItsOwner: Bool {
        state.withLock { state in
            if case .kept = state.phase { true } else { false }
        }
    }

    /// Decides on a change, and writes it down before it returns.
    /// - Parameter decide: takes the file's lock. nil: nothing changed.
    func record(_ decide: () -> Step?) throws(FileSystemError) {
        try state.withLock { state throws(FileSystemError) in
            guard let step = decide() else { return }
            switch state.phase {
            case .kept, .disowned: return
            case .open:
                guard step.isResized else { return try journal.apply(step.change, to: id) }
                try journal.resize(id, to: step.staged.size, baseLimit: step.staged.baseLimit, step.change)
            case .unrecorded, .sealed:
                // To say that nothing was written and nothing is to be kept needs no row.
                if case .unrecorded = state.phase, step.staged.extents.isEmpty, step.staged.size == 0 { return }
                try put(step.staged, .open, state.place, changes: MetadataPatch())
                state.phase = .open
            }
        }
    }

    /// What is there is to be stored: a close or `fsync` came by. All of it is in the staging file.
    struct Seal {
        var place: Journal.Place
        var changes: MetadataPatch
        var size: Int64
        var checksum: UInt32
        /// Entries whose bytes nobody needs once this one is sealed.
        var superseded: [JournalEntry.ID] = []
        /// Survives the end of the machine as well.
        var isDurable = false
    }

    /// - Parameter stillHolds: whether the file is what `seal` says; takes the file's lock. If not, nothing is done.
    /// - Returns: whether it is sealed.
    @discardableResult
    func seal(_ seal: Seal, ifUnchanged stillHolds: () -> Bool) throws(FileSystemError) -> Bool {
        try state.withLock { state throws(FileSystemError) in
            switch state.phase {
            case .kept, .disowned: return false
            case .unrecorded where seal.size == 0 && !seal.isDurable: return false
            case .unrecorded, .open, .sealed: break
            }
            guard stillHolds() else { return false }
            let whole = StagedExtents.Extent(range: 0..<seal.size, checksum: seal.checksum)
            let content = Journal.Content(
                id: id, state: .sealed, place: seal.place, file: file, size: seal.size, baseLimit: 0,
                checksum: seal.checksum, changes: seal.changes, time: time)
            try journal.put(
                content, seal.size > 0 ? [whole] : [], removing: seal.superseded, isDurable: seal.isDurable)
            state.place = seal.place
            state.phase = .sealed
            return true
        }
    }

    /// A sealed file's headers were changed.
    func amend(_ place: Journal.Place, _ changes: MetadataPatch) throws(FileSystemError) {
        try state.withLock { state throws(FileSystemError) in
            guard case .sealed = state.phase else { return }
            state.place = place
            try journal.amend(id, place, changes)
        }
    }

    /// What is still to be stored.
    enum Rest {
        case nothing
        /// What was changed since.
        case changes(StagedWrite)
        /// What was sealed since.
        case sealed
    }

    /// The bucket has it under this name and generation.
    /// - Parameter rest: takes the file's lock.
    func stored(as place: Journal.Place, rest: () -> Rest) throws(FileSystemError) {
        try state.withLock { state throws(FileSystemError) in
            state.place = place
            switch state.phase {
            case .unrecorded, .kept, .disowned: return
            case .open, .sealed: break
            }
            switch rest() {
            case .nothing:
                state.phase = .unrecorded
                try journal.remove([id])
            case .changes(let staged):
                try put(staged, .open, place, changes: MetadataPatch())
                state.phase = .open
            case .sealed: try journal.move([id], to: place)
            }
        }
    }

    /// The object has another name or generation.
    /// - Parameter replaced: entries for what it has taken the name of: they go in the same moment.
    func move(to place: Journal.Place, removing replaced: [JournalEntry.ID] = []) throws(FileSystemError) {
        try state.withLock { state throws(FileSystemError) in
            state.place = place
            switch state.phase {
            case .unrecorded, .disowned, .kept: try journal.remove(replaced)
            case .open, .sealed: try journal.move([id], to: place, removing: replaced)
            }
        }
    }

    /// The file has lost its name: its bytes are for those who have it open, and for nobody after them.
    func disown() throws(FileSystemError) {
        try state.withLock { state throws(FileSystemError) in
            switch state.phase {
            case .kept: return
            case .unrecorded, .disowned: break
            case .open, .sealed: try journal.remove([id])
            }
            state.phase = .disowned
        }
    }

    /// It could not be stored: row and file stay when this object goes.
    func keep(
        _ staged: StagedWrite, as keptState: JournalEntry.State, because message: String
    ) throws(FileSystemError) {
        try state.withLock { state throws(FileSystemError) in
            switch state.phase {
            case .kept, .disowned: return
            case .unrecorded: try put(staged, keptState, state.place, changes: MetadataPatch())
            case .open, .sealed: break
            }
            state.phase = .kept
            try journal.mark(id, keptState, message: message)
        }
    }

    private func put(
        _ staged: StagedWrite, _ entryState: JournalEntry.State, _ place: Journal.Place, changes: MetadataPatch
    ) throws(FileSystemError) {
        let content = Journal.Content(
            id: id, state: entryState, place: place, file: file, size: staged.size, baseLimit: staged.baseLimit,
            checksum: nil, changes: changes, time: time)
        try journal.put(content, staged.extents.extents)
    }
}
