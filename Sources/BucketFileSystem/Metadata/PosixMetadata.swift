import ObjectStore

/// What other tools keep of a file's times, permissions and kind in an object's custom metadata, and how we write it:
/// gsutil's and gcloud's `goog-reserved-*` keys, gcsfuse's and rclone's sub-second times (PROTOCOL.md, conventions).
struct PosixMetadata: Equatable {
    var modified: Timestamp?
    var accessed: Timestamp?
    var changed: Timestamp?
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
        static let accessedSeconds = "goog-reserved-file-atime"
        // No other tool has keys for these.
        static let accessed = "firemount_atime"
        static let changed = "firemount_ctime"
        static let fullMode = "firemount_mode"

        /// Keys that keep books for tools, and tokens that open the object to everyone: no custom metadata of the user.
        static func isBookkeeping(_ key: String) -> Bool { isOfFile(key) || key == "firebaseStorageDownloadTokens" }

        /// Keys that tell of the file whose bytes the object holds, not of the object.
        static func isOfFile(_ key: String) -> Bool {
            key.hasPrefix("goog-reserved-") || key.hasPrefix("firemount_") || key == nanoseconds || key == rclone
                || key == linkTarget
        }
    }

    init() {}

    init(_ custom: [String: String]) {
        guard !custom.isEmpty else { return }
        modified = Self.modified(in: custom)
        accessed = Self.accessed(in: custom)
        changed = custom[Key.changed].flatMap { Timestamp(rfc3339: $0) }
        permissions = Self.permissions(in: custom)
        owner = custom[Key.owner].flatMap { UInt32($0) }
        group = custom[Key.group].flatMap { UInt32($0) }
        linkTarget = custom[Key.linkTarget]
        isSymbolicLink = custom[Key.isLink] == "true" || linkTarget != nil
    }

    /// Each tool renews its own keys alone: gsutil the seconds, rclone these and its own, gcsfuse its own. So keys that
    /// differ tell that somebody came later than whoever wrote them all, and the spelling tells whether that was
    /// gcsfuse (docs/decisions/0041).
    private static func modified(in custom: [String: String]) -> Timestamp? {
        let seconds = custom[Key.seconds].flatMap { Int64($0) }
        let rclone = custom[Key.rclone].flatMap { Timestamp(rfc3339: $0) }
        let others = seconds.map { $0 == rclone?.seconds ? rclone : Timestamp(seconds: $0) } ?? rclone
        guard let text = custom[Key.nanoseconds], let finest = Timestamp(rfc3339: text) else { return others }
        guard let others else { return finest }
        let isOurs = text.hasSuffix(ourOffset)
        if others.seconds == finest.seconds { return isOurs && rclone != nil ? others : finest }
        return isOurs ? others : max(others, finest)
    }

    /// gcsfuse reads any offset and writes `Z`; we write this one, and so know our own.
    private static let ourOffset = "+00:00"

    /// For gcsfuse's key.
    static func spelled(_ moment: Timestamp) -> String { moment.rfc3339().dropLast() + ourOffset }

    /// The key with the fraction counts only while it names gsutil's second: another tool does not know of it.
    private static func accessed(in custom: [String: String]) -> Timestamp? {
        guard let seconds = custom[Key.accessedSeconds].flatMap({ Int64($0) }) else { return nil }
        if let precise = custom[Key.accessed].flatMap({ Timestamp(rfc3339: $0) }), precise.seconds == seconds {
            return precise
        }
        // gsutil writes -1 where it does not know.
        return seconds < 0 ? nil : Timestamp(seconds: seconds)
    }

    /// Exactly three octal digits, as gsutil checks. The bits above them are ours, and count only with the same digits.
    private static func permissions(in custom: [String: String]) -> UInt16? {
        guard let text = custom[Key.mode], text.utf8.count == 3, let plain = UInt16(text, radix: 8) else { return nil }
        guard let full = custom[Key.fullMode].flatMap({ UInt16($0, radix: 8) }), full <= 0o7777, full & 0o777 == plain
        else { return plain }
        return full
    }

    static func octal(_ number: UInt16, digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
