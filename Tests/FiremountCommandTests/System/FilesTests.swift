import Glibc
import TestSupport
import Testing

@testable import firemount

struct FilesTests {
    private let directory = temporaryDirectory()

    @Test(arguments: [
        ("/a/b", "/a", "b"), ("/a/b/", "/a", "b"), ("/a", "/", "a"), ("/", "/", ""), ("a", ".", "a"),
        ("a//b", "a", "b"),
    ])
    func pathsHaveAParentAndALastComponent(path: String, parent: String, last: String) {
        #expect(parentDirectory(of: path) == parent)
        #expect(lastComponent(of: path) == last)
    }

    @Test func directoriesAreMadeForUsAlone() throws {
        try Files.makeDirectories("\(directory.path)/a/b/c")
        try Files.makeDirectories("\(directory.path)/a/b/c")
        for path in ["a", "a/b", "a/b/c"] {
            #expect(try Files.status(of: "\(directory.path)/\(path)").st_mode & 0o777 == 0o700)
        }
    }

    @Test func aTreeIsRemovedWithoutFollowingLinks() throws {
        let tree = "\(directory.path)/tree"
        try Files.makeDirectories("\(tree)/a")
        try Files.makeDirectories("\(directory.path)/kept")
        _ = try Descriptor.open("\(tree)/a/file", O_RDWR | O_CREAT, mode: 0o600)
        let status = unsafe symlink("../kept", "\(tree)/link")
        #expect(status == 0)

        try Files.removeTree(tree)

        #expect(try Files.entries(of: directory.path) == ["kept"])
    }

    @Test func contentsLongerThanOneReadAreWhole() throws {
        let path = "\(directory.path)/file"
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
        try Descriptor.open(path, O_WRONLY | O_CREAT, mode: 0o600).write(bytes)
        #expect(try Files.contents(of: path) == bytes)
    }

    @Test func errorsSpeakTheSystemsWords() {
        let error = #expect(throws: SystemError.self) { try Files.contents(of: "\(directory.path)/none") }
        #expect(error?.description == "No such file or directory")
    }
}
