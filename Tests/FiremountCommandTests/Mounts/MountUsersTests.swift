import Glibc
import TestSupport
import Testing

@testable import firemount

struct MountUsersTests {
    @Test func whoHasAFileOpenIsNamed() throws {
        let directory = temporaryDirectory()
        let path = try Files.canonicalPath(directory.path)
        #expect(MountUsers(of: path).users.isEmpty)

        let file = try Descriptor.open("\(path)/file", O_RDWR | O_CREAT, mode: 0o600)

        let users = MountUsers(of: path)
        #expect(users.users.map(\.processID) == [Int(getpid())])
        #expect(users.description.hasSuffix("(process \(getpid()))"))
        _ = consume file
    }

    @Test func aDirectoryWithTheSameBeginningIsNotMeant() throws {
        let directory = temporaryDirectory()
        let path = try Files.canonicalPath(directory.path)
        let file = try Descriptor.open("\(path)/file", O_RDWR | O_CREAT, mode: 0o600)
        #expect(MountUsers(of: "\(path)/fil").users.isEmpty)
        _ = consume file
    }
}
