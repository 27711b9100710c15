import Locking
import ObjectStore

/// How the journal follows a file, and what of it outlives the mount.
extension FileContents {
    /// The object goes by another name, generation or headers now.
    func journalMove(to place: Journal.Place, replacing replaced: FileContents? = nil) throws(FileSystemError) {
        let others = replaced?.entries ?? []
        var gone = others.map(\.id)
        for entry in entries {
            try entry.move(to: place, removing: gone)
            gone = []
        }
        for other in others { try other.disown() }
        replaced?.state.withLock { $0.sealed = nil }
    }

    /// What the journal has of the file: what is staged, and what was sealed before it.
    var entries: [StagedEntry] {
        state.withLock { state in
            let files = [state.staged?.file, state.isSealed ? nil : state.sealed?.staged.file]
            return files.compactMap { $0?.entry }
        }
    }

    /// The file has lost its name.
    func disown() throws(FileSystemError) {
        for entry in entries { try entry.disown() }
        state.withLock { $0.sealed = nil }
    }

    /// Gives up what could not be stored; the journal keeps it. Answers its name there; nil if there was nothing.
    func keepUnsaved(
        as keptState: JournalEntry.State, because message: String
    ) throws(FileSystemError) -> String? {
        let (staged, stream) = state.withLock { state -> (StagedWrite?, UploadStream?) in
            let unsaved = state.isDirty ? state.staged : nil
            state.staged = nil
            state.sealed = nil
            state.isDirty = false
            state.changes = MetadataChanges()
            return (unsaved, state.takeStream())
        }
        stream?.abandon()
        guard let staged, let entry = staged.file.entry else { return nil }
        try entry.keep(staged, as: keptState, because: message)
        return entry.name
    }

    /// Gives up what could not be written.
    func dropUnsaved() throws(FileSystemError) {
        let (entry, stream) = state.withLock { state in
            defer {
                state.staged = nil
                state.isDirty = false
                state.spoiled = nil
                state.changes = MetadataChanges()
            }
            return (state.staged?.file.entry, state.takeStream())
        }
        stream?.abandon()
        try entry?.disown()
    }
}
