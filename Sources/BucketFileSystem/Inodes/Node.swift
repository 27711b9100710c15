import ObjectStore

/// One inode, as long as the kernel or an open handle refers to it. A file's node stands for one object generation as
/// other clients see it: when another client replaces the object, the name gets a new node, and the kernel's cached
/// pages of the old one never meet the new bytes. Our own writes advance a node's record in place.
///
/// Owned by `Namespace`; touched only under its lock.
final class Node {
    enum Link { case attached, unlinked, superseded }

    let number: InodeNumber
    let fileNumber: UInt64
    let kind: FileAttributes.Kind
    /// Where it is, or was last. nil for the root.
    var parent: Node?
    var name: EntryName
    /// What the bucket calls it between two slashes: nearly always the name's own bytes (`Spelling`).
    var segment: [UInt8]
    var link = Link.attached
    /// What the kernel has been given and not yet forgotten.
    var lookups: UInt64 = 0
    var handles = 0
    /// Something is still to be sent of it.
    var pins = 0
    /// What the bucket has: of a file, nil while it was never stored; of a folder, its placeholder, if there is one.
    var record: FileRecord?
    /// When `record` (or the folder's existence) was last known to be true.
    var asOf: Instant
    /// When the bucket last took something of it from this mount.
    var writtenAt: Instant?
    /// Of a file that was opened or changed; of a folder or link, when its metadata was.
    var contents: FileContents?
    /// Of a file that was never stored: the object that goes by its name in the bucket, since a rename put it there.
    var replaces: FileRecord?
    /// Of a file that was never stored: made with `O_EXCL`, so that one which is there already is told as such.
    var isExclusive = false
    /// Of a file that lost its name while it was open: its object, which goes when it is closed.
    var keptObject: ObjectMetadata?
    /// Of a folder.
    let directory: Directory?
    /// Of a folder: times and permissions set since, as the placeholder will or does hold them.
    var folderChanges = MetadataChanges()

    init(
        number: InodeNumber, fileNumber: UInt64, kind: FileAttributes.Kind, parent: Node?, name: EntryName,
        segment: [UInt8], record: FileRecord?, asOf: Instant
    ) {
        self.number = number
        self.fileNumber = fileNumber
        self.kind = kind
        self.parent = parent
        self.name = name
        self.segment = segment
        self.record = record
        self.asOf = asOf
        directory = kind == .directory ? Directory() : nil
    }

    /// A name in this folder came or went.
    func entriesChanged(_ today: Timestamp) {
        folderChanges.modified = today
        folderChanges.changed = today
    }

    /// Whether it is a folder that was emptied here and has no placeholder: only this mount knows of it.
    var stays: Bool { directory?.stays == true && record == nil && link == .attached }

    /// Whether somebody knows it by its number, or more is known here than anyone could ask for anew.
    var isInUse: Bool {
        if lookups > 0 || handles > 0 || pins > 0 || stays { return true }
        return link == .attached && (directory?.nodeCount ?? 0) > 0
    }

    /// Whether we know better than the bucket: not stored yet, or changed here and not stored.
    var isLocal: Bool {
        guard kind == .file else { return false }
        return record == nil || contents?.isDirty == true
    }

    /// This mount is changing its object, or renaming a folder above it: what the bucket answers meanwhile may be from
    /// before or from after. How old the change is shows in `asOf` once it is done.
    var isChanging: Bool { contents?.gate.isTaken == true || parent?.isChanging == true }

    /// What the bucket answers says nothing of it that would count.
    var outranksAnswers: Bool { isLocal || isChanging }
}
