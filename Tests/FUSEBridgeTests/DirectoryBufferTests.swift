import ObjectStore
import Testing

@testable import BucketFileSystem
@testable import FUSEBridge

struct DirectoryBufferTests {
    private func entry(_ name: String, inode: UInt64? = nil) -> DirectoryEntry {
        let moment = Timestamp(seconds: 0)
        let attributes = FileAttributes(
            fileNumber: 9, kind: .file, permissions: 0o644, owner: 0, group: 0, size: 0, linkCount: 1,
            accessed: moment, modified: moment, changed: moment)
        return DirectoryEntry(
            name: EntryName(name), kind: .file, fileNumber: 9, cookie: 1,
            entry: inode.map { Entry(inode: InodeNumber($0), attributes: attributes, validFor: .zero) })
    }

    /// linux/fuse.h: a dirent is 24 bytes and its name, padded to 8; 128 bytes of attributes come before it.
    @Test func anEntryThatDoesNotFitIsNotTaken() {
        let buffer = DirectoryBuffer(capacity: 63, withAttributes: false)
        #expect(buffer.append(entry("a")))
        #expect(!buffer.append(entry("b")))
        #expect(unsafe buffer.filled.count == 32)
    }

    @Test func onlyEntriesThatWereTakenCountAsLookedUp() {
        let buffer = DirectoryBuffer(capacity: 2 * 160 + 159, withAttributes: true)
        #expect(buffer.append(entry(".")))
        #expect(buffer.append(entry("a", inode: 5)))
        #expect(!buffer.append(entry("b", inode: 6)))
        #expect(buffer.lookedUp == [InodeNumber(5)])
    }

    @Test func withoutAttributesNothingIsLookedUp() {
        let buffer = DirectoryBuffer(capacity: 4_096, withAttributes: false)
        #expect(buffer.append(entry("a", inode: 5)))
        #expect(buffer.lookedUp.isEmpty)
    }
}
