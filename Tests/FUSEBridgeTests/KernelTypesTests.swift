import CFUSE
import Glibc
import ObjectStore
import Testing

@testable import BucketFileSystem
@testable import FUSEBridge

struct KernelTypesTests {
    private func attributes(_ kind: FileAttributes.Kind, size: Int64) -> FileAttributes {
        FileAttributes(
            fileNumber: 77, kind: kind, permissions: 0o640, owner: 1, group: 2, size: size, linkCount: 1,
            accessed: Timestamp(seconds: 10), modified: Timestamp(seconds: 11, nanoseconds: 5),
            changed: Timestamp(seconds: -1, nanoseconds: 7))
    }

    @Test(arguments: [(0, 0), (1, 1), (512, 1), (513, 2), (Int64.max, Int64.max / 512 + 1)])
    func blocksCoverTheSizeInUnitsOf512(_ size: Int64, _ blocks: Int64) {
        #expect(attributes(.file, size: size).kernelForm.st_blocks == blocks)
    }

    @Test func kindAndPermissionsMakeTheMode() {
        #expect(attributes(.file, size: 0).kernelForm.st_mode == S_IFREG | 0o640)
        #expect(attributes(.directory, size: 0).kernelForm.st_mode == S_IFDIR | 0o640)
        #expect(attributes(.symbolicLink, size: 0).kernelForm.st_mode == S_IFLNK | 0o640)
    }

    @Test func theNumberThatProgramsSeeIsNotTheKernelsInode() {
        let entry = Entry(
            inode: InodeNumber(5), attributes: attributes(.file, size: 0), validFor: .milliseconds(1_500))
        let parameters = fuse_entry_param(entry)
        #expect(parameters.ino == 5)
        #expect(parameters.attr.st_ino == 77)
        #expect(parameters.entry_timeout == 1.5)
        #expect(parameters.attr_timeout == 1.5)
    }

    @Test func timesBefore1970KeepTheirNanoseconds() {
        let times = attributes(.file, size: 0).kernelForm
        #expect(times.st_ctim.tv_sec == -1)
        #expect(times.st_ctim.tv_nsec == 7)
        #expect(times.st_mtim.tv_nsec == 5)
    }

    @Test func onlyRequestedAttributesChange() {
        var values = stat()
        values.st_size = 9
        values.st_mode = S_IFREG | 0o4755
        values.st_mtim = timespec(tv_sec: 3, tv_nsec: 4)
        let changes = AttributeChanges(values, Int32(FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_MTIME))
        #expect(changes.size == nil)
        #expect(changes.permissions == 0o4755)
        #expect(changes.accessed == nil)
        guard case .at(let moment) = changes.modified else {
            Issue.record("not the given time")
            return
        }
        #expect(moment == Timestamp(seconds: 3, nanoseconds: 4))
    }

    @Test func nowWinsOverTheTimeThatComesWithIt() {
        let requested = FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW
        let changes = AttributeChanges(stat(), Int32(requested))
        guard case .now = changes.accessed, case .now = changes.modified else {
            Issue.record("not now")
            return
        }
    }

    @Test(arguments: [
        (O_RDONLY, true, false, false), (O_WRONLY | O_TRUNC, false, true, true), (O_RDWR | O_APPEND, true, true, false),
    ])
    func openFlagsMakeTheMode(_ flags: Int32, reads: Bool, writes: Bool, truncates: Bool) {
        let mode = OpenMode(flags: flags)
        #expect(mode.reads == reads)
        #expect(mode.writes == writes)
        #expect(mode.truncates == truncates)
    }
}
