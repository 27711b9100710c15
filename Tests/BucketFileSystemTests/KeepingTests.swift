import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct KeepingTests {
    private static let text = String(repeating: "0123456789", count: 100)

    private func bench() -> Bench {
        Bench({ $0.largestFetchForHolders = 100 }, objects: [("big", Self.text), ("other", "new")])
    }

    private func reader(_ bench: Bench) async throws -> HandleID {
        let mode = OpenMode(reads: false, writes: true, truncates: false)
        return try await bench.files.open(try await bench.find("big").inode, mode).handle
    }

    @Test func aLargeFileThatIsRemovedWhileOpenIsNotFetched() async throws {
        let bench = bench()
        let handle = try await reader(bench)
        bench.store.resetCounts()
        try await bench.unlink("big")
        #expect(bench.store.counts[.read] == nil)
        #expect(bench.stored("big") == nil)
        #expect(try await bench.list() == ["other"])
        #expect(try await bench.read(handle) == Self.text)
        bench.files.release(handle)
        await bench.files.afterwork.wait()
        #expect(bench.store.names == ["other"])
    }

    @Test func aLargeFileThatIsReplacedWhileOpenIsNotFetched() async throws {
        let bench = bench()
        let handle = try await reader(bench)
        bench.store.resetCounts()
        try await bench.rename("other", to: "big")
        #expect(bench.store.counts[.read] == nil)
        #expect(bench.stored("big") == "new")
        #expect(try await bench.read(handle) == Self.text)
        #expect(await bench.files.shutDown().isEmpty)
        #expect(bench.store.names == ["big"])
    }

    @Test func whereNothingMayBeMovedAsideTheBytesAreFetched() async throws {
        let bench = bench()
        let handle = try await reader(bench)
        bench.failing.fail(.move, with: .forbidden)
        try await bench.unlink("big")
        #expect(try await bench.read(handle) == Self.text)
        bench.files.release(handle)
        await bench.files.afterwork.wait()
        #expect(bench.store.names == ["other"])
    }

    @Test func whatWasWrittenToARemovedFileIsStillThereForItsHolder() async throws {
        let bench = bench()
        let handle = try await reader(bench)
        try bench.write(handle, "XX", at: 2)
        try await bench.unlink("big")
        try bench.write(handle, "YY", at: 6)
        #expect(try await bench.read(handle, count: 10) == "01XX45YY89")
        try await bench.close(handle)
        await bench.files.afterwork.wait()
        #expect(bench.store.names == ["other"])
    }

    @Test(arguments: [true, false]) func aRemovedFileThatIsWrittenToIsNotToldOfInTheJournal(isSeen: Bool) async throws {
        let bench = bench()
        let handle = try await reader(bench)
        try await bench.unlink("big")
        try bench.write(handle, "XX", at: 2)
        #expect(try bench.journal.entries().entries.isEmpty)
        if isSeen { try await bench.files.flush(handle) }
        bench.files.release(handle)
        #expect(await bench.files.shutDown().isEmpty)
        #expect(bench.store.names == ["other"])
    }
}
