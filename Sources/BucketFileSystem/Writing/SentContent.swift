import ObjectStore

/// The content of an upload, as the bucket would tell it.
struct SentContent: Sendable, Equatable {
    let size: Int64
    let crc32c: UInt32

    func isThat(of object: ObjectMetadata) -> Bool { object.size == size && object.crc32c == crc32c }
}

/// What the bucket may have of a file without this mount's knowing it: uploads that ended without an answer.
extension FileContents {
    /// An upload has failed; the bucket may have what it sent all the same.
    func mayHaveStored(_ content: SentContent) {
        state.withLock { state in
            if state.unanswered.contains(content) { return }
            state.unanswered = state.unanswered.suffix(Self.mostUnanswered - 1) + [content]
        }
    }

    /// A network that is gone fails one content over and over: more than a few are rare.
    private static let mostUnanswered = 16

    /// Oldest first. Any of them may be there, or still on its way.
    var unanswered: [SentContent] { state.withLock { $0.unanswered } }

    /// The bucket has told what it has.
    func forgetUnanswered() { state.withLock { $0.unanswered = [] } }
}
