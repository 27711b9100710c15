import Glibc
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
}
