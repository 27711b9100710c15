import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct CopyingTests {
    private let bench: Bench

    init() {
        bench = Bench()
        bench.store.put(
            "a.txt", Array("some text".utf8),
            headers: ObjectHeaders(
                contentType: "text/plain", custom: ["firebaseStorageDownloadTokens": "t", "colour": "red"]))
    }

    private func reader(_ path: String) async throws -> HandleID {
        let mode = OpenMode(reads: true, writes: false, truncates: false)
        return try await bench.files.open(try await bench.find(path).inode, mode).handle
    }

    @Test func aWholeFileIsCopiedByTheBucket() async throws {
        let source = try await reader("a.txt")
        let target = try await bench.openForWriting("b.html")
        bench.store.resetCounts()
        #expect(try bench.files.copyRange(from: source, at: 0, to: target, at: 0, count: 1 << 40) == 9)
        #expect(try bench.files.copyRange(from: source, at: 9, to: target, at: 9, count: 1 << 40) == 0)
        try await bench.close(target)
        #expect(bench.store.counts == [.copy: 1])
        #expect(bench.stored("b.html") == "some text")
        let headers = try #require(bench.store.object("b.html")?.headers)
        #expect(headers.contentType == "text/html")
        #expect(headers.custom["firebaseStorageDownloadTokens"] == nil)
        #expect(headers.custom["colour"] == nil)
        #expect(headers.custom["gcsfuse_mtime"] != nil)
        #expect(try await bench.read("b.html") == "some text")
    }

    @Test func severalPiecesMakeAWhole() async throws {
        let source = try await reader("a.txt")
        let target = try await bench.openForWriting("b.txt")
        #expect(try bench.files.copyRange(from: source, at: 0, to: target, at: 0, count: 4) == 4)
        #expect(try await bench.read(target) == "some")
        #expect(try bench.files.copyRange(from: source, at: 4, to: target, at: 4, count: 40) == 5)
        try await bench.close(target)
        #expect(bench.store.counts[.copy] == 1)
        #expect(bench.stored("b.txt") == "some text")
    }

    @Test func aPartIsCopiedThroughHere() async throws {
        let source = try await reader("a.txt")
        let target = try await bench.openForWriting("b.txt")
        #expect(try bench.files.copyRange(from: source, at: 0, to: target, at: 0, count: 4) == 4)
        try await bench.close(target)
        #expect(bench.stored("b.txt") == "some")
        #expect(bench.store.counts[.copy] == nil)
    }

    @Test func whatIsWrittenOverACopyStays() async throws {
        let source = try await reader("a.txt")
        let target = try await bench.openForWriting("b.txt")
        #expect(try bench.files.copyRange(from: source, at: 0, to: target, at: 0, count: 40) == 9)
        try bench.write(target, "more", at: 0)
        #expect(try await bench.read(target) == "more text")
        try await bench.close(target)
        #expect(bench.stored("b.txt") == "more text")
    }

    /// The kernel forgets the source, and whoever changes it then comes by another way.
    @Test(arguments: [1 << 40, 4]) func aSourceThatIsForgottenAndChangedIsCopiedAsItWas(count: Int64) async throws {
        let source = try await reader("a.txt")
        let target = try await bench.openForWriting("b.txt")
        let copied = try bench.files.copyRange(from: source, at: 0, to: target, at: 0, count: count)
        bench.files.release(source)
        bench.forgetAll()
        try await bench.write("a.txt", "other text")
        try await bench.rename("a.txt", to: "c.txt")
        #expect(try await bench.read(target) == "some text".prefix(Int(copied)))
        try await bench.close(target)
        #expect(bench.stored("b.txt") == String("some text".prefix(Int(copied))))
        // Nothing is kept for it any more.
        bench.forgetAll()
        await bench.files.afterwork.wait()
        #expect(bench.files.namespace.withLock { $0.allNodes.count } == 1)
        #expect(bench.files.copies.withLock { $0.isEmpty })
    }

    @Test func aRemovedCopyKeepsItsBytesForItsHolderWhenTheSourceIsChanged() async throws {
        let source = try await reader("a.txt")
        let target = try await bench.openForWriting("b.txt")
        #expect(try bench.files.copyRange(from: source, at: 0, to: target, at: 0, count: 40) == 9)
        try await bench.unlink("b.txt")
        try await bench.write("a.txt", "other text")
        #expect(try await bench.read(target) == "some text")
        bench.files.release(target)
        bench.files.release(source)
    }

    @Test func aFileThatIsBeingCopiedOverIsRemoved() async throws {
        try await bench.write("b.txt", "old")
        let source = try await reader("a.txt")
        let target = try await bench.openForWriting("b.txt", truncates: true)
        #expect(try bench.files.copyRange(from: source, at: 0, to: target, at: 0, count: 40) == 9)
        try await bench.unlink("b.txt")
        #expect(try await bench.read(target) == "some text")
        try await bench.close(target)
        #expect(bench.store.names == ["a.txt"])
        bench.files.release(source)
    }

    @Test func anExistingFileIsReplacedAndKeepsWhatWasSetOnIt() async throws {
        bench.store.put("b.txt", Array("old".utf8), headers: ObjectHeaders(cacheControl: "no-cache"))
        let source = try await reader("a.txt")
        let target = try await bench.openForWriting("b.txt", truncates: true)
        #expect(try bench.files.copyRange(from: source, at: 0, to: target, at: 0, count: 40) == 9)
        try await bench.close(target)
        #expect(bench.stored("b.txt") == "some text")
        #expect(bench.store.object("b.txt")?.headers.cacheControl == "no-cache")
        #expect(bench.store.counts[.insert] == nil)
    }

    @Test func theSourceMayChangeBeforeTheCopyIsStored() async throws {
        for change in ["write", "unlink", "rename", "replace"] {
            let bench = Bench(objects: [("a", "some text"), ("c", "other")])
            let mode = OpenMode(reads: true, writes: false, truncates: false)
            let source = try await bench.files.open(try await bench.find("a").inode, mode).handle
            let target = try await bench.openForWriting("b")
            #expect(try bench.files.copyRange(from: source, at: 0, to: target, at: 0, count: 40) == 9)
            bench.files.release(source)
            switch change {
            case "write": try await bench.write("a", "new")
            case "unlink": try await bench.unlink("a")
            case "rename": try await bench.rename("a", to: "d")
            default: try await bench.rename("c", to: "a")
            }
            try await bench.close(target)
            #expect(bench.stored("b") == "some text", "\(change)")
        }
    }

    @Test func theSourceMayChangeWhileTheBucketIsAboutToCopyIt() async throws {
        let source = try await reader("a.txt")
        let target = try await bench.openForWriting("b.txt")
        #expect(try bench.files.copyRange(from: source, at: 0, to: target, at: 0, count: 1 << 40) == 9)
        bench.store.hold(.copy)
        let closing = Task { try await bench.close(target) }
        await bench.store.waitUntilHeld(.copy)
        try await bench.write("a.txt", "other")
        bench.store.release(.copy)
        try await closing.value
        #expect(bench.stored("a.txt") == "other")
        #expect(bench.stored("b.txt") == "some text")
    }

    @Test func whatIsNoPlainCopyIsLeftToTheKernel() async throws {
        let source = try await reader("a.txt")
        let target = try await bench.openForWriting("b.txt")
        try bench.write(target, "x")
        for (from, to) in [(Int64(0), Int64(0)), (1, 1), (0, 1), (1, 0)] {
            let error = await failure {
                try bench.files.copyRange(from: source, at: from, to: target, at: to, count: 4)
            }
            #expect(error?.word == "unsupported")
        }
        let dirty = try await bench.openForWriting("a.txt")
        try bench.write(dirty, "y")
        let other = try await bench.openForWriting("c.txt")
        let error = await failure { try bench.files.copyRange(from: dirty, at: 0, to: other, at: 0, count: 4) }
        #expect(error?.word == "unsupported")
    }
}
