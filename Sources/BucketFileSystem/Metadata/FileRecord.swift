import ObjectStore

/// One object generation as a file shows it: what the bucket said, with the conventions of other tools read out once.
/// Never changes; a new answer makes a new record.
final class FileRecord: Sendable {
    let metadata: ObjectMetadata
    let posix: PosixMetadata

    init(_ metadata: ObjectMetadata) {
        self.metadata = metadata
        posix = PosixMetadata(metadata.headers.custom)
    }

    var objectGeneration: ObjectGeneration { metadata.objectGeneration }
    var isSymbolicLink: Bool { posix.isSymbolicLink }
    var modified: Timestamp { posix.modified ?? metadata.updated }

    /// A link's size is its target's length; the bucket has the target as bytes, or (older writers) in metadata alone.
    var size: Int64 {
        if isSymbolicLink, metadata.size == 0, let target = posix.linkTarget { return Int64(target.utf8.count) }
        return metadata.size
    }
}
