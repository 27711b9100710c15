import Locking
import ObjectStore

/// Content that the bucket makes of what it has.
extension FileContents {
    /// The bucket has made `snapshot` of what it has; `content` is that. Most of it is not in the staging file.
    func didStore(
        _ snapshot: Snapshot, as place: Journal.Place, content: ObjectContent
    ) throws(FileSystemError) {
        let (old, superseded) = state.withLock { state in
            let superseded = state.dropSealed(upTo: snapshot)
            if state.staged?.version == snapshot.version { state.staged?.becameBaseThroughout() }
            state.mayStream = false
            state.copied = nil
            state.didStore(snapshot)
            defer { state.base = content }
            return (state.base, superseded)
        }
        old?.discard()
        try journalStored(snapshot, as: place)
        try superseded?.disown()
    }

    // MARK: Copying another object

    /// nil: the file shows nothing of another object.
    var copiedBase: CopiedBase? { state.withLock { $0.copied } }

    /// The bucket's version, if the file shows nothing else.
    var unchangedBase: ObjectContent? {
        state.withLock { $0.staged == nil && !$0.isDirty ? $0.base : nil }
    }

    /// The file, which has nothing else, goes on with the bytes of `source` from `offset` to `end`. Answers false, and
    /// does nothing, if it is another file than that.
    func copy(_ source: CopiedBase, from offset: Int64, to end: Int64, today: Timestamp) -> Bool {
        state.withLock { state in
            guard !state.isSealed, let staged = state.staged, staged.size == offset, staged.untouchedBase == offset,
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
}
