package import ObjectStore

/// What `stat` shows of an inode.
package struct FileAttributes: Sendable, Equatable {
    package enum Kind: Sendable, Equatable { case file, directory, symbolicLink }

    /// `st_ino`: made from the object's name, so it is the same after a forget and after a remount.
    package var fileNumber: UInt64
    package var kind: Kind
    /// Permission bits only (`07777`).
    package var permissions: UInt16
    package var owner: UInt32
    package var group: UInt32
    package var size: Int64
    package var linkCount: UInt32
    package var accessed: Timestamp
    package var modified: Timestamp
    package var changed: Timestamp

    package init(
        fileNumber: UInt64, kind: Kind, permissions: UInt16, owner: UInt32, group: UInt32, size: Int64,
        linkCount: UInt32, accessed: Timestamp, modified: Timestamp, changed: Timestamp
    ) {
        self.fileNumber = fileNumber
        self.kind = kind
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.size = size
        self.linkCount = linkCount
        self.accessed = accessed
        self.modified = modified
        self.changed = changed
    }

    /// `st_blksize`: 1 MiB, so that `cp` moves big pieces (DESIGN: numbers that tools compare).
    package static let blockSize: Int64 = 1 << 20
}

/// Attributes, and how long the kernel may keep them.
package struct ExpiringAttributes: Sendable {
    package var attributes: FileAttributes
    package var validFor: Duration
}

/// An entry that exists. The kernel holds one more lookup of `inode` for each one it is given, until `forget`.
package struct Entry: Sendable {
    package var inode: InodeNumber
    package var attributes: FileAttributes
    /// How long the kernel may believe name and attributes.
    package var validFor: Duration
}

/// The answer to a lookup.
package enum LookupResult: Sendable {
    case found(Entry)
    /// No such name; the kernel may believe that for so long (zero: not at all).
    case absent(validFor: Duration)
}

/// What `setattr` asks for. nil: leave as it is.
package struct AttributeChanges: Sendable {
    package enum Time: Sendable { case now, at(Timestamp) }

    package var size: Int64?
    package var permissions: UInt16?
    package var owner: UInt32?
    package var group: UInt32?
    package var accessed: Time?
    package var modified: Time?

    package init() {}
}

/// What `statfs` shows. A bucket has no end: the figures are round and large.
package struct FileSystemStatistics: Sendable {
    package var blockSize: UInt32 = 1 << 20
    /// 1 PiB, as other bucket mounts show; programs that compute free space do not overflow.
    package var blocks: UInt64 = 1 << 30
    package var freeBlocks: UInt64 = 1 << 30
    package var files: UInt64 = 1 << 50
    package var freeFiles: UInt64 = 1 << 50
    package var longestName: UInt32 = 255
}
