import ObjectStore

/// What other tools keep of a file's times, permissions and kind in an object's custom metadata, and how we write it:
/// gsutil's and gcloud's `goog-reserved-*` keys, gcsfuse's and rclone's sub-second times (PROTOCOL.md, conventions).
struct PosixMetadata: Equatable {
    var modified: Timestamp?
    var permissions: UInt16?
    var owner: UInt32?
    var group: UInt32?
    var isSymbolicLink = false
    /// Only where the metadata holds it; otherwise the object's bytes are the target.
    var linkTarget: String?

    enum Key {
        static let seconds = "goog-reserved-file-mtime"
        static let nanoseconds = "gcsfuse_mtime"
        static let rclone = "mtime"
        static let mode = "goog-reserved-posix-mode"
        static let owner = "goog-reserved-posix-uid"
        static let group = "goog-reserved-posix-gid"
        static let isLink = "goog-reserved-file-is-symlink"
        static let linkTarget = "gcsfuse_symlink_target"

        /// Keys that keep books for tools, and tokens that open the object to everyone: no custom metadata of the user.
        static func isBookkeeping(_ key: String) -> Bool { isOfFile(key) || key == "firebaseStorageDownloadTokens" }

        /// Keys that tell of the file whose bytes the object holds, not of the object.
        static func isOfFile(_ key: String) -> Bool {
            key.hasPrefix("goog-reserved-") || key == nanoseconds || key == rclone || key == linkTarget
        }
    }

    init() {}

    init(_ custom: [String: String]) {
        guard !custom.isEmpty else { return }
        modified = Self.modified(in: custom)
        permissions = custom[Key.mode].flatMap(Self.permissions)
        owner = custom[Key.owner].flatMap { UInt32($0) }
        group = custom[Key.group].flatMap { UInt32($0) }
        linkTarget = custom[Key.linkTarget]
        isSymbolicLink = custom[Key.isLink] == "true" || linkTarget != nil
    }

    /// The sub-second keys count only when they name the same second as gsutil's, if that is there: a tool may have
    /// changed one and not known of the other.
    private static func modified(in custom: [String: String]) -> Timestamp? {
        let seconds = custom[Key.seconds].flatMap { Int64($0) }
        for key in [Key.nanoseconds, Key.rclone] {
            guard let precise = custom[key].flatMap({ Timestamp(rfc3339: $0) }) else { continue }
            if seconds == nil || seconds == precise.seconds { return precise }
        }
        return seconds.map { Timestamp(seconds: $0) }
    }

    /// Exactly three octal digits, as gsutil checks.
    private static func permissions(_ text: String) -> UInt16? {
        text.utf8.count == 3 ? UInt16(text, radix: 8) : nil
    }
}

/// A change of what `PosixMetadata` holds. nil: as it was.
struct PosixChanges: Equatable, Sendable {
    var modified: Timestamp?
    var permissions: UInt16?
    var owner: UInt32?
    var group: UInt32?

    var isEmpty: Bool { self == PosixChanges() }

    /// `newer` wins where both say something.
    func merged(with newer: PosixChanges) -> PosixChanges {
        PosixChanges(
            modified: newer.modified ?? modified, permissions: newer.permissions ?? permissions,
            owner: newer.owner ?? owner, group: newer.group ?? group)
    }

    /// The keys to set in custom metadata. rclone's own key is renewed only where it is already.
    func keys(over existing: [String: String]) -> [String: String] {
        var keys: [String: String] = [:]
        if let modified {
            keys[PosixMetadata.Key.seconds] = String(modified.seconds)
            keys[PosixMetadata.Key.nanoseconds] = modified.rfc3339()
            if existing[PosixMetadata.Key.rclone] != nil { keys[PosixMetadata.Key.rclone] = modified.rfc3339() }
        }
        if let permissions {
            let digits = String(permissions & 0o777, radix: 8)
            keys[PosixMetadata.Key.mode] = String(repeating: "0", count: 3 - digits.utf8.count) + digits
        }
        if let owner { keys[PosixMetadata.Key.owner] = String(owner) }
        if let group { keys[PosixMetadata.Key.group] = String(group) }
        return keys
    }

    func applied(to custom: [String: String]) -> [String: String] {
        custom.merging(keys(over: custom)) { _, new in new }
    }
}
