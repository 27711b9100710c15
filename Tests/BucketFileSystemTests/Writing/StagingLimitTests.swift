import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

struct StagingLimitTests {
    private let text = String(repeating: "x", count: 6_000)

    private func bench(objects: [(String, String)] = []) -> Bench {
        Bench({ $0.stagingLimit = 10_000 }, objects: objects)
    }

    @Test func writeBeyondTheLimitFailsAndSoDoesTheClose() async throws {
        let bench = bench()
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, text)
        #expect(await failure { try bench.write(handle, text, at: 6_000) }?.word == "noSpace")
        #expect(await failure { try await bench.files.flush(handle) }?.word == "noSpace")
        bench.files.release(handle)
        await bench.files.afterwork.wait()
        #expect(bench.store.names.isEmpty, "no part of the file is in the bucket")
        #expect(await !bench.exists("f"))
        #expect(try bench.journal.entries().entries.isEmpty)
        try await bench.write("g", text)
        #expect(bench.stored("g") == text, "what could not be written takes no room")
    }

    @Test func anOldVersionStaysWholeWhenItsEditDoesNotFit() async throws {
        let bench = bench(objects: [("f", "old")])
        let handle = try await bench.openForWriting("f", truncates: true)
        try bench.write(handle, text)
        #expect(await failure { try bench.write(handle, text, appends: true) }?.word == "noSpace")
        #expect(await failure { try await bench.files.flush(handle) }?.word == "noSpace")
        bench.files.release(handle)
        await bench.files.afterwork.wait()
        #expect(bench.stored("f") == "old")
        #expect(try await bench.read("f") == "old")
    }

    @Test func aWriteThatSucceedsLaterMakesItGood() async throws {
        let bench = bench()
        let other = try await bench.openForWriting("other")
        try bench.write(other, text)
        let handle = try await bench.openForWriting("f")
        #expect(await failure { try bench.write(handle, text) }?.word == "noSpace")
        try await bench.close(other)
        try bench.write(handle, text)
        try await bench.close(handle)
        #expect(bench.stored("f") == text)
    }

    @Test func storedBytesMakeRoom() async throws {
        let bench = bench()
        for name in ["a", "b", "c", "d"] { try await bench.write(name, text) }
        #expect(bench.store.names.count == 4)
    }

    @Test func overwritingTheSamePlaceTakesNoMoreRoom() async throws {
        let bench = bench()
        let handle = try await bench.openForWriting("f")
        for _ in 0..<5 { try bench.write(handle, text, at: 0) }
        try await bench.close(handle)
        #expect(bench.stored("f") == text)
    }
}
