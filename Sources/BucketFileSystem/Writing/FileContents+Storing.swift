import Locking
import ObjectStore

/// What happens to a file's content while it is stored.
extension FileContents {
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
                try file.reserve(Int64(gap.count))
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
                file: copy, origin: staged.file, isFrozen: true, size: staged.size, version: staged.version,
                changes: state.changes, checksum: nil, missingBase: [], base: nil)
        }
    }

    /// `snapshot` is on its way to the bucket as `place` says; after a crash it is still to be stored. A file that was
    /// changed meanwhile is not.
    func seal(_ snapshot: Snapshot, _ seal: StagedEntry.Seal) throws(FileSystemError) {
        try snapshot.file.entry?.seal(seal) { isUnchanged(since: snapshot.version) }
    }

    /// What is still to be stored of `file` after something of it was.
    private func rest(in file: StagingFile) -> StagedEntry.Rest {
        state.withLock { state in
            guard state.isDirty else { return .nothing }
            if state.sealed?.staged.file === file { return .sealed }
            guard let staged = state.staged, staged.file === file else { return .nothing }
            return .changes(staged)
        }
    }

    /// The bucket has `snapshot`, as `place` says. What was written since stays dirty.
    func didStore(_ snapshot: Snapshot, as place: Journal.Place) throws(FileSystemError) {
        let (base, superseded) = state.withLock { state in
            state.mayStream = false
            let superseded = state.dropSealed(upTo: snapshot)
            if state.staged?.file === snapshot.origin {
                state.staged!.becameBase()
                state.copied = nil
            }
            state.didStore(snapshot)
            defer { state.base = nil }
            return (state.base, superseded)
        }
        base?.discard()
        try journalStored(snapshot, as: place)
        try superseded?.disown()
    }

    /// What came after `snapshot` is based on it now. Only then its own row may go: after a crash in between the next
    /// mount finds by it that the bucket has this content already.
    func journalStored(_ snapshot: Snapshot, as place: Journal.Place) throws(FileSystemError) {
        let (entries, own) = (entries, snapshot.origin.entry)
        for entry in entries where entry !== own { try entry.move(to: place) }
        if entries.contains(where: { $0 === own }) {
            try own?.stored(as: place) { rest(in: snapshot.origin) }
        } else {
            try own?.disown()
        }
    }
}
