import Glibc
import TestSupport
import Testing

@testable import firemount

struct MountPointTests {
    private let directory = temporaryDirectory()
    private var path: String { get throws { try Files.canonicalPath(directory.path) } }

    @Test func anEmptyDirectoryWillDoAndIsFoundWithoutLinks() throws {
        let status = unsafe symlink(directory.path, "\(directory.path)-link")
        #expect(status == 0)
        defer { unsafe unlink("\(directory.path)-link") }
        #expect(try MountPoint.checked("\(directory.path)-link/.", allowsNonEmpty: false) == path)
    }

    @Test func aMissingOneIsNamedWithTheWayOut() {
        let missing = "\(directory.path)/missing"
        let error = #expect(throws: CommandFailure.self) { try MountPoint.checked(missing, allowsNonEmpty: false) }
        #expect(error?.message == "the mount point \(missing) does not exist; make it first: mkdir -p \(missing)")
        #expect(error?.status == 1)
    }

    @Test func aFileIsNoMountPoint() throws {
        let file = "\(directory.path)/file"
        _ = try Descriptor.open(file, O_RDWR | O_CREAT, mode: 0o600)
        for path in [file, "\(file)/below"] {
            let error = #expect(throws: CommandFailure.self) { try MountPoint.checked(path, allowsNonEmpty: true) }
            #expect(error?.message == "the mount point \(path) is not a directory; name one that is")
        }
    }

    @Test func whatWouldBeHiddenIsAskedAbout() throws {
        _ = try Descriptor.open("\(directory.path)/file", O_RDWR | O_CREAT, mode: 0o600)
        let error = #expect(throws: CommandFailure.self) {
            try MountPoint.checked(directory.path, allowsNonEmpty: false)
        }
        #expect(error?.message.contains("--nonempty") == true)
        #expect(throws: Never.self) { try MountPoint.checked(directory.path, allowsNonEmpty: true) }
    }

    @Test func anotherMountIsNamed() {
        let error = #expect(throws: CommandFailure.self) { try MountPoint.checked("/proc", allowsNonEmpty: true) }
        #expect(error?.message.contains("/proc is occupied: proc (proc) is mounted there") == true)
    }

    @Test func nothingIsMountedWhereNothingIs() throws {
        let missing = "\(directory.path)/missing"
        let request = try StatusRequest(parsing: [missing])
        let commands: [() throws -> Void] = [
            { try UnmountCommand(mountPoint: missing).run() },
            { try TransferCommand(command: .pause, mountPoint: missing, id: nil).run() },
            { _ = try StatusCommand(mountPoint: missing, request: request).run() },
        ]
        for command in commands {
            let error = #expect(throws: CommandFailure.self) { try command() }
            #expect(error?.message.hasPrefix("nothing is mounted at \(missing)") == true, "\(error?.message ?? "")")
        }
    }

    @Test func unmountRefusesWhatIsNotOurs() {
        let error = #expect(throws: CommandFailure.self) { try UnmountCommand(mountPoint: "/proc").run() }
        #expect(error?.message == "/proc is no firemount mount, it is proc: umount /proc")
        #expect(throws: CommandFailure.self) { try UnmountCommand(mountPoint: directory.path).run() }
    }
}
