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
