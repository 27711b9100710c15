import Locking

/// Uploads that begin before the file is closed.
extension FileContents {
    var stream: UploadStream? { state.withLock { $0.stream } }

    /// Whether `snapshot` is of the file that a stream would be of.
    func isCurrent(_ snapshot: Snapshot) -> Bool { state.withLock { $0.staged?.file === snapshot.file } }

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
