import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct PosixMetadataTests {
    private static let earlier = Timestamp(seconds: 1_000, nanoseconds: 5)
    private static let later = Timestamp(seconds: 2_000, nanoseconds: 7)

    @Test func whatIsWrittenIsReadAgain() {
        let changes = MetadataChanges(
            modified: Self.earlier, accessed: Self.later, changed: Self.later, permissions: 0o4755, owner: 3, group: 4)
        let custom = changes.applied(to: [:])
        let posix = PosixMetadata(custom)
        #expect(posix.modified == Self.earlier)
        #expect(posix.accessed == Self.later)
        #expect(posix.changed == Self.later)
        #expect(posix.permissions == 0o4755)
        #expect(posix.owner == 3)
        #expect(posix.group == 4)
        #expect(custom["goog-reserved-posix-mode"] == "755")
        #expect(custom["goog-reserved-file-atime"] == "2000")
    }

    @Test func timesThatAreTheModificationTimeNeedNoKey() {
        let before = MetadataChanges(modified: Self.earlier, accessed: Self.later, changed: Self.later).applied(to: [:])
        let all = MetadataChanges(modified: Self.later, accessed: Self.later, changed: Self.later).applied(to: before)
        #expect(Set(all.keys) == ["goog-reserved-file-mtime", "gcsfuse_mtime"])
    }

    @Test func aModeOfAnotherToolTakesOursAway() {
        #expect(PosixMetadata(["goog-reserved-posix-mode": "644", "firemount_mode": "4755"]).permissions == 0o644)
        #expect(PosixMetadata(["goog-reserved-posix-mode": "755", "firemount_mode": "4755"]).permissions == 0o4755)
        #expect(PosixMetadata(["firemount_mode": "4755"]).permissions == nil)
        #expect(PosixMetadata(["goog-reserved-posix-mode": "0644"]).permissions == nil)
    }

    /// What another tool leaves of the three keys (gsutil's, gcsfuse's, rclone's) when it changes a time after us, or
    /// another after it; and what that is.
    private static let changes: [(String?, String?, String?, Int64, Int32)] = [
        ("1000", "1970-01-01T00:16:40.5Z", nil, 1_000, 500_000_000),
        ("1000", "1970-01-01T00:16:40.5+00:00", nil, 1_000, 500_000_000),
        // gsutil after us, forward and back.
        ("2000", "1970-01-01T00:16:40.5+00:00", nil, 2_000, 0), ("3", "1970-01-01T00:16:40.5+00:00", nil, 3, 0),
        // rclone after us: another second, and the same one.
        ("3", "1970-01-01T00:16:40.5+00:00", "1970-01-01T00:00:03.25Z", 3, 250_000_000),
        ("1000", "1970-01-01T00:16:40.5+00:00", "1970-01-01T00:16:40.25Z", 1_000, 250_000_000),
        // gcsfuse after us, or after rclone.
        ("1000", "1970-01-01T00:33:20.5Z", nil, 2_000, 500_000_000),
        ("1000", "1970-01-01T00:33:20.5Z", "1970-01-01T00:16:40.25Z", 2_000, 500_000_000),
        // gsutil after gcsfuse.
        ("3000", "1970-01-01T00:33:20.5Z", nil, 3_000, 0),
        // gsutil after rclone; rclone alone; gcsfuse alone; a year that RFC 3339 has no room for.
        ("3", nil, "1970-01-01T00:16:40.25Z", 3, 0), (nil, nil, "1970-01-01T01:16:40.25+01:00", 1_000, 250_000_000),
        (nil, "1970-01-01T00:16:40.5Z", nil, 1_000, 500_000_000),
        ("253402300800", "9999-12-31T23:59:59+00:00", nil, 253_402_300_800, 0),
    ]

    @Test(arguments: changes)
    func whoChangedATimeLastIsBelieved(
        seconds: String?, gcsfuse: String?, rclone: String?, expected: Int64, nanoseconds: Int32
    ) {
        var custom: [String: String] = [:]
        custom["goog-reserved-file-mtime"] = seconds
        custom["gcsfuse_mtime"] = gcsfuse
        custom["mtime"] = rclone
        #expect(PosixMetadata(custom).modified == Timestamp(seconds: expected, nanoseconds: nanoseconds))
    }

    @Test func anAccessTimeThatGsutilDoesNotKnowIsNone() {
        #expect(PosixMetadata(["goog-reserved-file-atime": "-1"]).accessed == nil)
        #expect(PosixMetadata(["goog-reserved-file-atime": "7"]).accessed == Timestamp(seconds: 7))
    }

    @Test func timesThatAreSetAloneStayApart() async throws {
        let bench = Bench(objects: [("f", "x")])
        let before = try await bench.find("f")
        var changes = AttributeChanges()
        changes.modified = .at(Self.earlier)
        let after = try await bench.files.setAttributes(of: before.inode, to: changes, handle: nil).attributes
        #expect(after.modified == Self.earlier)
        #expect(after.accessed == before.attributes.accessed)
        #expect(after.changed > before.attributes.changed || after.changed != after.modified)
        changes = AttributeChanges()
        changes.accessed = .at(Self.later)
        let last = try await bench.files.setAttributes(of: before.inode, to: changes, handle: nil).attributes
        #expect(last.modified == Self.earlier)
        #expect(last.accessed == Self.later)
        #expect(last.changed >= after.changed)
    }

    @Test func aNewModeDoesNotMoveATimeThatOnlyTheBucketKnew() async throws {
        let bench = Bench(objects: [("f", "x")])
        let before = try await bench.find("f")
        var changes = AttributeChanges()
        changes.permissions = 0o600
        let after = try await bench.files.setAttributes(of: before.inode, to: changes, handle: nil).attributes
        #expect(after.modified == before.attributes.modified)
        bench.advance(seconds: 100)
        #expect(try await bench.find("f").attributes == after)
    }
}
