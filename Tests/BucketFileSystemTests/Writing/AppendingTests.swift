import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct AppendingTests {
    private static let start = String(repeating: "0123456789", count: 100)

    private func bench(_ headers: ObjectHeaders = ObjectHeaders(contentType: "text/x-special")) -> Bench {
        let bench = Bench { $0.appendLimit = 500 }
        bench.store.put("log", Array(Self.start.utf8), headers: headers)
        return bench
    }

    @Test func onlyWhatWasAddedIsSent() async throws {
        let bench = bench(
            ObjectHeaders(contentType: "text/x-special", cacheControl: "no-cache", custom: ["colour": "red"]))
        _ = try await bench.list()
        bench.store.resetCounts()
        try await bench.write("log", "more", appends: true)
        #expect(bench.stored("log") == Self.start + "more")
        await bench.files.afterwork.wait()
        // The test's own way of opening reads the beginning.
        #expect(bench.store.reads.count <= 1)
        #expect(bench.store.counts.filter { $0.key != .read } == [.insert: 1, .compose: 1, .delete: 1, .list: 1])
        #expect(bench.store.names == ["log"])
        let headers = try #require(bench.store.object("log")?.headers)
        #expect(headers.contentType == "text/x-special")
        #expect(headers.cacheControl == "no-cache")
        #expect(headers.custom["colour"] == "red")
        #expect(headers.custom["gcsfuse_mtime"] != nil)
        #expect(try await bench.read("log") == Self.start + "more")
    }

    @Test func anOpenFileIsAppendedToAgainAndAgain() async throws {
        let bench = bench()
        let handle = try await bench.openForWriting("log")
        var expected = Self.start
        for number in 0..<5 {
            try bench.write(handle, "line \(number)\n", appends: true)
            expected += "line \(number)\n"
            try await bench.files.synchronize(handle)
            #expect(bench.stored("log") == expected)
            #expect(try await bench.read(handle) == expected)
        }
        #expect(bench.store.counts[.compose] == 5)
        #expect(bench.store.reads.allSatisfy { $0.name == "log" })
        try bench.write(handle, "X", at: 3)
        try await bench.close(handle)
        let edited = Array(expected.utf8)
        #expect(bench.stored("log") == String(decoding: edited[..<3] + [88] + edited[4...], as: UTF8.self))
        await bench.files.afterwork.wait()
        #expect(bench.store.names == ["log"])
    }

    @Test func aConflictKeepsTheirs() async throws {
        let bench = bench()
        let handle = try await bench.openForWriting("log")
        try bench.write(handle, "more", appends: true)
        bench.store.put("log", Array("theirs".utf8))
        #expect(await failure { try await bench.close(handle) }?.word == "stale")
        await bench.files.afterwork.wait()
        #expect(bench.store.names == ["log"])
        #expect(bench.stored("log") == "theirs")
    }

    @Test func anotherClientsChangeOfMetadataIsNoConflict() async throws {
        let bench = bench()
        let handle = try await bench.openForWriting("log")
        try bench.write(handle, "more", appends: true)
        bench.store.change("log", MetadataPatch(custom: ["colour": .set("red")]))
        try await bench.close(handle)
        #expect(bench.stored("log") == Self.start + "more")
        #expect(bench.store.object("log")?.headers.custom["colour"] == "red")
    }

    @Test func whereObjectsCannotBeJoinedTheWholeIsStored() async throws {
        let bench = bench()
        bench.failing.fail(.compose, call: nil, with: .unsupported)
        for _ in 0..<2 { try await bench.write("log", "more", appends: true) }
        #expect(bench.stored("log") == Self.start + "moremore")
        await bench.files.afterwork.wait()
        #expect(bench.store.names == ["log"])
        #expect(bench.failing.counts[.compose] == 1)
    }

    @Test func whoMayWriteNothingBesideTheObjectStoresItWhole() async throws {
        let bench = bench()
        bench.failing.fail(.insert, with: .forbidden)
        try await bench.write("log", "more", appends: true)
        #expect(bench.stored("log") == Self.start + "more")
        #expect(bench.store.counts[.compose] == nil)
        // A permission that is there again is used again, after a while.
        try await bench.write("log", "more", appends: true)
        #expect(bench.store.counts[.compose] == nil)
        bench.advance(seconds: 301)
        try await bench.write("log", "more", appends: true)
        #expect(bench.store.counts[.compose] == 1)
        #expect(bench.stored("log") == Self.start + "moremoremore")
    }

    @Test func whereJoiningIsForbiddenForAWhileTheWholeIsStored() async throws {
        let bench = bench()
        bench.failing.fail(.compose, with: .forbidden)
        try await bench.write("log", "more", appends: true)
        #expect(bench.stored("log") == Self.start + "more")
        bench.advance(seconds: 301)
        try await bench.write("log", "more", appends: true)
        #expect(bench.stored("log") == Self.start + "moremore")
        #expect(bench.store.counts[.compose] == 1)
        await bench.files.afterwork.wait()
        #expect(bench.store.names == ["log"])
    }

    @Test func joiningWhoseAnswerIsLostIsNoConflictWithItself() async throws {
        let bench = bench()
        let handle = try await bench.openForWriting("log")
        try bench.write(handle, "more", appends: true)
        bench.failing.fail(.compose, .afterEffect, with: .timedOut)
        await #expect(throws: FileSystemError.self) { try await bench.files.synchronize(handle) }
        #expect(bench.stored("log") == Self.start + "more")
        try await bench.files.synchronize(handle)
        try bench.write(handle, " and more", appends: true)
        try await bench.close(handle)
        #expect(bench.stored("log") == Self.start + "more and more")
        await bench.files.afterwork.wait()
        #expect(bench.store.names == ["log"], "no tail is left over")
    }

    @Test func anotherClientsVersionIsNotTakenForJoiningWhoseAnswerIsLost() async throws {
        let bench = bench()
        let handle = try await bench.openForWriting("log")
        try bench.write(handle, "more", appends: true)
        bench.failing.fail(.compose, with: .timedOut)
        await #expect(throws: FileSystemError.self) { try await bench.files.synchronize(handle) }
        bench.store.put("log", Array((Self.start + "less").utf8))
        #expect(await failure { try await bench.close(handle) }?.word == "stale")
        #expect(bench.stored("log") == Self.start + "less")
    }

    @Test func whatAKilledMountLeftIsSweptAndNotShown() async throws {
        let bench = bench()
        bench.store.put(".firemount/tails/left", [1])
        bench.store.put("other", [1])
        #expect(try await bench.list() == ["log", "other"])
        try await bench.write("log", "more", appends: true)
        await bench.files.afterwork.wait()
        // It is a second old: it may be another mount's.
        #expect(bench.store.names == [".firemount/tails/left", "log", "other"])
        bench.store.passTime(seconds: 90_000)
        let later = Bench(over: bench.store) { $0.appendLimit = 500 }
        try await later.write("log", "more", appends: true)
        await later.files.afterwork.wait()
        #expect(bench.store.names == ["log", "other"])
    }

    @Test func aFileThatGrowsByTruncationIsAppendedToWithZeros() async throws {
        let bench = bench()
        var changes = AttributeChanges()
        changes.size = Int64(Self.start.utf8.count + 3)
        _ = try await bench.files.setAttributes(of: try await bench.find("log").inode, to: changes, handle: nil)
        #expect(bench.stored("log") == Self.start + "\0\0\0")
        #expect(bench.store.counts[.compose] == 1)
    }
}
