import ObjectStore

/// The content of an upload, as the bucket would tell it.
struct SentContent: Sendable, Equatable {
    let size: Int64
    let crc32c: UInt32

    func isThat(of object: ObjectMetadata) -> Bool { object.size == size && object.crc32c == crc32c }
}

extension FileContents {
    /// Whether the bucket may have just this of the file without our knowing it. That is asked once.
    func takeUnanswered(_ content: SentContent) -> Bool {
        state.withLock { state in
            guard state.unanswered == content else { return false }
            state.unanswered = nil
            return true
        }
    }
}
