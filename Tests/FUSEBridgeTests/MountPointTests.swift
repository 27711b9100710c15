import TestSupport
import Testing

@testable import FUSEBridge

struct MountPointTests {
    @Test func aMissingDirectoryIsNamedWithTheWayOut() {
        let path = temporaryDirectory().path + "/absent"
        let error = #expect(throws: MountError.self) { try MountPoint(path) }
        #expect(error?.description == "\(path): no such directory; make it with: mkdir -p \(path)")
    }

    @Test func aFileIsNoMountPoint() {
        let error = #expect(throws: MountError.self) { try MountPoint("/etc/passwd") }
        #expect(error?.description == "/etc/passwd: not a directory; a bucket is mounted on a directory")
    }

    @Test func theMountPointIsAbsoluteAndWithoutLinks() throws {
        let directory = temporaryDirectory()
        #expect(try MountPoint("/proc/self/root" + directory.path + "/.").path.hasSuffix(directory.path))
    }
}
