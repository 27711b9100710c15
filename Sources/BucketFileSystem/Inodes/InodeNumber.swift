/// Names an inode between the kernel and us (FUSE: nodeid). Counted up, never used twice in a mount.
/// It is not what `stat` shows: that is `FileAttributes.fileNumber`, which stays the same across remounts.
package struct InodeNumber: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The root of the mount (`FUSE_ROOT_ID`).
    package static let root = InodeNumber(1)
    package var description: String { "inode \(rawValue)" }
}

/// Names an open file or an open directory. Counted up, never used twice in a mount.
package struct HandleID: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    package var description: String { "handle \(rawValue)" }
}
