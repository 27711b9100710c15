import Glibc
import Locking
import Logging
import TestSupport
import Testing

@testable import firemount

struct StagingDirectoryTests {
    private let directory = temporaryDirectory()

    @Test func theCacheDirectoryIsMadeForUsAlone() throws {
        let cache = "\(directory.path)/a/cache"
        try StagingDirectory.checkCacheDirectory(cache, userID: geteuid())
        #expect(try Files.status(of: cache).st_mode & 0o777 == 0o700)
    }

    @Test func aPlaceThatCannotBeWrittenIsNamed() {
        let error = #expect(throws: CommandFailure.self) {
            try StagingDirectory.checkCacheDirectory("/proc/cache", userID: geteuid())
        }
        #expect(error?.message.hasPrefix("cannot use the cache directory /proc/cache: ") == true)
        #expect(error?.message.hasSuffix("--cache-dir") == true)
    }

    @Test func someoneElsesDirectoryIsRefused() {
        let error = #expect(throws: CommandFailure.self) {
            try StagingDirectory.checkCacheDirectory(directory.path, userID: geteuid() + 1)
        }
        #expect(error?.message.contains("belongs to user \(geteuid())") == true)
    }

    @Test func aDirectoryOpenToEveryoneIsRefused() throws {
        let status = unsafe chmod(directory.path, 0o777)
        #expect(status == 0)
        #expect(throws: CommandFailure.self) {
            try StagingDirectory.checkCacheDirectory(directory.path, userID: geteuid())
        }
    }

    @Test func eachRunHasItsOwnDirectoryAndTakesItAway() throws {
        try StagingDirectory.checkCacheDirectory(directory.path, userID: geteuid())
        let first = try StagingDirectory(in: directory.path, bucket: "b", log: .silent)
        let second = try StagingDirectory(in: directory.path, bucket: "b", log: .silent)
        let paths = [first.path, second.path]
        #expect(Set(paths).count == 2)
        for path in paths { #expect(try Files.status(of: path).st_mode & 0o777 == 0o700) }
        let removed = [first.remove(), second.remove()]
        #expect(removed == [true, true])
        #expect(try Files.entries(of: "\(directory.path)/staging").isEmpty)
    }

    @Test func whatCouldNotBeStoredStaysAndIsToldOfNextTime() throws {
        try StagingDirectory.checkCacheDirectory(directory.path, userID: geteuid())
        let first = try StagingDirectory(in: directory.path, bucket: "b", log: .silent)
        let path = first.path
        for name in ["unsaved-7", "staged-8"] {
            _ = try Descriptor.open("\(path)/\(name)", O_RDWR | O_CREAT, mode: 0o600)
        }
        let removed = first.remove()
        #expect(!removed)

        let lines = Lines()
        let second = try StagingDirectory(in: directory.path, bucket: "c", log: lines.log)

        #expect(lines.all.count == 1)
        #expect(lines.all.first?.contains(path) == true)
        _ = second.remove()
        #expect(try Files.entries(of: path) == ["unsaved-7"])
    }

    @Test func aRunUnderWayIsLeftAlone() throws {
        try StagingDirectory.checkCacheDirectory(directory.path, userID: geteuid())
        let first = try StagingDirectory(in: directory.path, bucket: "b", log: .silent)
        let lines = Lines()
        let second = try StagingDirectory(in: directory.path, bucket: "b", log: lines.log)
        #expect(lines.all.isEmpty)
        let removed = [first.remove(), second.remove()]
        #expect(removed == [true, true])
    }

    /// The lines of a log.
    private final class Lines: Sendable {
        private let lines = Lock<[String]>([])

        var all: [String] { lines.withLock { $0 } }
        var log: Logger { Logger(level: .info) { [self] _, line in lines.withLock { $0.append(line) } } }
    }
}
