import ObjectStore

/// A change of what an object carries beside its bytes: what `stat` shows of a file, and what extended attributes set.
/// nil: as it was.
struct MetadataChanges: Equatable, Sendable {
    var modified: Timestamp?
    var accessed: Timestamp?
    /// `st_ctime`: when anything of the file was last changed through a mount.
    var changed: Timestamp?
    /// Permission bits, with set-user-ID, set-group-ID and sticky (`07777`).
    var permissions: UInt16?
    var owner: UInt32?
    var group: UInt32?
    /// Headers and custom metadata of the user; never the keys that the fields above become.
    var headers = MetadataPatch()

    var isEmpty: Bool { self == MetadataChanges() }

    /// `newer` wins where both say something.
    func merged(with newer: MetadataChanges) -> MetadataChanges {
        MetadataChanges(
            modified: newer.modified ?? modified, accessed: newer.accessed ?? accessed,
            changed: newer.changed ?? changed, permissions: newer.permissions ?? permissions,
            owner: newer.owner ?? owner, group: newer.group ?? group, headers: headers.merged(with: newer.headers))
    }

    /// The keys to set in custom metadata, and those to remove. rclone's own key is renewed only where it is already.
    func keys(over existing: [String: String]) -> [String: MetadataPatch.Change] {
        var keys = KeyChanges(existing: existing)
        if let modified {
            keys.set(PosixMetadata.Key.seconds, String(modified.seconds))
            keys.set(PosixMetadata.Key.nanoseconds, PosixMetadata.spelled(modified))
            if existing[PosixMetadata.Key.rclone] != nil { keys.set(PosixMetadata.Key.rclone, modified.rfc3339()) }
        }
        // Both are the modification time where nothing else is said.
        let modified = modified ?? PosixMetadata(existing).modified
        if let accessed {
            let isUsual = accessed == modified
            keys.set(PosixMetadata.Key.accessedSeconds, isUsual ? nil : String(accessed.seconds))
            let needsFraction = !isUsual && (accessed.nanoseconds != 0 || accessed.seconds < 0)
            keys.set(PosixMetadata.Key.accessed, needsFraction ? accessed.rfc3339() : nil)
        }
        if let changed { keys.set(PosixMetadata.Key.changed, changed == modified ? nil : changed.rfc3339()) }
        if let permissions {
            keys.set(PosixMetadata.Key.mode, PosixMetadata.octal(permissions & 0o777, digits: 3))
            let isSpecial = permissions & 0o7000 != 0
            keys.set(PosixMetadata.Key.fullMode, isSpecial ? PosixMetadata.octal(permissions, digits: 4) : nil)
        }
        if let owner { keys.set(PosixMetadata.Key.owner, String(owner)) }
        if let group { keys.set(PosixMetadata.Key.group, String(group)) }
        return keys.changes
    }

    /// As a change of the object that has `existing`.
    func patch(over existing: ObjectHeaders) -> MetadataPatch {
        MetadataPatch(custom: keys(over: existing.custom)).merged(with: headers)
    }

    func applied(to existing: ObjectHeaders) -> ObjectHeaders {
        var headers = existing
        headers.apply(patch(over: existing))
        return headers
    }

    func applied(to custom: [String: String]) -> [String: String] {
        applied(to: ObjectHeaders(custom: custom)).custom
    }
}

/// Collects changes of keys; one that is not there need not be removed.
private struct KeyChanges {
    let existing: [String: String]
    var changes: [String: MetadataPatch.Change] = [:]

    init(existing: [String: String]) { self.existing = existing }

    mutating func set(_ key: String, _ value: String?) {
        if let value {
            changes[key] = .set(value)
        } else if existing[key] != nil {
            changes[key] = .remove
        }
    }
}
