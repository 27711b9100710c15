import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// Uploads that begin before their file is closed.
struct StreamingTests {
    private let bench = Bench(
        { configuration in
            configuration.streamThreshold = 1_000
            configuration.streamPiece = 500
        },
        store: InMemoryStore(
            abilities: StoreAbilities(
                listsMetadata: true, checksPreconditions: true, composes: true, streams: true)))

    private func text(_ count: Int, _ letter: Character = "a") -> String { String(repeating: letter, count: count) }

    /// Until so many bytes are at the server, and nothing of it shows.
    private func sent(_ count: Int64, of name: String = "f") async {
        while (bench.files.transfers.entries.first?.control.progress.confirmed ?? 0) < count { await Task.yield() }
        #expect(bench.stored(name) == nil, "no part of a file is visible")
    }

    private func beginBigFile() async throws -> HandleID {
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, text(800))
        try bench.write(handle, text(800, "b"), at: 800)
        await sent(1_600)
        return handle
    }

    @Test func aLargeFileLeavesWhileItIsWritten() async throws {
        let handle = try await beginBigFile()
        try bench.write(handle, text(300, "c"), at: 1_600)
        try await bench.close(handle)
        #expect(bench.stored("f") == text(800) + text(800, "b") + text(300, "c"))
        #expect(bench.store.counts[.insert] == 1)
        #expect(bench.files.transfers.count == 0)
    }

    @Test func aSmallFileDoesNot() async throws {
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, text(999))
        #expect(bench.files.transfers.count == 0)
        try await bench.close(handle)
        #expect(bench.stored("f") == text(999))
    }

    @Test func whatIsKnownOnlyAtTheEndIsStoredToo() async throws {
        let handle = try await beginBigFile()
        bench.advance(seconds: 100)
        try bench.write(handle, "end", at: 1_600)
        let inode = try await bench.find("f").inode
        var changes = AttributeChanges()
        changes.permissions = 0o600
        _ = try await bench.files.setAttributes(of: inode, to: changes, handle: handle)
        let shown = try await bench.files.attributes(of: inode).attributes
        try await bench.close(handle)
        let stored = try #require(bench.store.object(ObjectName("f")))
        let posix = PosixMetadata(stored.headers.custom)
        #expect(posix.permissions == 0o600)
        #expect(posix.modified == shown.modified)
    }

    @Test func aWriteThatGoesBackIsInWhatIsStored() async throws {
        let handle = try await beginBigFile()
        try bench.write(handle, "HEAD", at: 0)
        try bench.write(handle, "end", at: 1_600)
        try await bench.close(handle)
        #expect(bench.stored("f") == "HEAD" + text(796) + text(800, "b") + "end")
        #expect(bench.store.counts[.insert] == 1, "what had begun to leave was given up")
    }

    @Test func aFileThatIsCutAgainIsStoredCut() async throws {
        let handle = try await beginBigFile()
        let inode = try await bench.find("f").inode
        var changes = AttributeChanges()
        changes.size = 100
        _ = try await bench.files.setAttributes(of: inode, to: changes, handle: handle)
        try await bench.close(handle)
        #expect(bench.stored("f") == text(100))
    }

    @Test func growingAFileBeforehandDoesNotHinderIt() async throws {
        let handle = try await bench.openForWriting("f")
        let inode = try await bench.find("f").inode
        var changes = AttributeChanges()
        changes.size = 3_000
        _ = try await bench.files.setAttributes(of: inode, to: changes, handle: handle)
        try bench.write(handle, text(2_000))
        await sent(2_000)
        try await bench.close(handle)
        #expect(bench.stored("f") == text(2_000) + text(1_000, "\0"))
        #expect(bench.store.counts[.insert] == 1)
    }

    @Test func aRenamedFileIsStoredUnderItsNewNameOnly() async throws {
        let handle = try await beginBigFile()
        try await bench.rename("f", to: "g")
        try bench.write(handle, "end", at: 1_600)
        try await bench.close(handle)
        #expect(bench.stored("f") == nil)
        #expect(bench.stored("g") == text(800) + text(800, "b") + "end")
    }

    @Test func aRemovedFileIsNotStored() async throws {
        let handle = try await beginBigFile()
        try await bench.unlink("f")
        try bench.write(handle, "end", at: 1_600)
        try await bench.close(handle)
        #expect(bench.store.names.isEmpty)
        while bench.files.transfers.count > 0 { await Task.yield() }
    }

    @Test func aSynchronizedFileGoesOnAfterwards() async throws {
        let handle = try await beginBigFile()
        try await bench.files.synchronize(handle)
        #expect(bench.stored("f") == text(800) + text(800, "b"))
        try bench.write(handle, "end", at: 1_600)
        try await bench.close(handle)
        #expect(bench.stored("f") == text(800) + text(800, "b") + "end")
    }

    @Test func anotherClientsFileOfThatNameIsNotOverwritten() async throws {
        let handle = try await beginBigFile()
        bench.store.put("f", Array("theirs".utf8))
        let error = await failure { try await bench.close(handle) }
        #expect(error?.word == "stale")
        #expect(bench.stored("f") == "theirs")
    }

    @Test func anOverwrittenFileKeepsItsOldVersionUntilTheEnd() async throws {
        bench.store.put("f", Array("old".utf8))
        let inode = try await bench.find("f").inode
        let mode = OpenMode(reads: false, writes: true, truncates: true)
        let handle = try await bench.files.open(inode, mode).handle
        try bench.write(handle, text(1_600))
        while (bench.files.transfers.entries.first?.control.progress.confirmed ?? 0) < 1_600 { await Task.yield() }
        #expect(bench.stored("f") == "old")
        try await bench.close(handle)
        #expect(bench.stored("f") == text(1_600))
        #expect(bench.store.counts[.insert] == 1)
    }

    @Test func anUploadThatFailedBeforeTheCloseIsMadeAnew() async throws {
        bench.failing.fail(.insert, with: .forbidden)
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, text(1_600))
        while bench.files.transfers.count > 0 { await Task.yield() }
        try await bench.close(handle)
        #expect(bench.stored("f") == text(1_600))
    }

    @Test func aCancelledUploadIsToldToTheCloseAndMayBeTriedAgain() async throws {
        let handle = try await beginBigFile()
        #expect(bench.files.transfers.perform(.cancel, on: nil))
        let error = await failure { try await bench.files.flush(handle) }
        #expect(error?.word == "storage")
        #expect(bench.stored("f") == nil)
        try await bench.close(handle)
        #expect(bench.stored("f") == text(800) + text(800, "b"))
    }

    @Test func aPausedUploadWaitsAndSoDoesTheClose() async throws {
        let handle = try await beginBigFile()
        let id = try #require(bench.files.transfers.entries.first?.control.id)
        #expect(bench.files.transfers.perform(.pause, on: id))
        try bench.write(handle, text(3_000, "c"), at: 1_600)
        async let closed: Void = bench.close(handle)
        for _ in 0..<200 { await Task.yield() }
        #expect(bench.stored("f") == nil)
        #expect(bench.files.transfers.perform(.resume, on: id))
        try await closed
        #expect(bench.stored("f")?.count == 4_600)
    }

    @Test func whoPausesEverythingPausesWhatIsToCome() async throws {
        #expect(bench.files.transfers.perform(.pause, on: nil))
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, "small")
        async let closed: Void = bench.close(handle)
        while bench.files.transfers.count == 0 { await Task.yield() }
        #expect(bench.files.transfers.entries[0].control.state == .paused)
        #expect(bench.files.transfers.perform(.resume, on: nil))
        try await closed
        #expect(bench.stored("f") == "small")
        #expect(!bench.files.transfers.perform(.pause, on: TransferID(rawValue: 99)))
    }

    /// Whatever is written where and stored when: in the end the bucket has what the file shows.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func theBucketHasWhatWasWritten(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        var model: [UInt8] = []
        var handle = try await bench.openForWriting("f")
        for step in 0..<40 {
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<10:
                let bytes = [UInt8](repeating: UInt8(65 + step % 26), count: Int.random(in: 1...700, using: &random))
                try bench.write(handle, String(decoding: bytes, as: UTF8.self), at: Int64(model.count))
                model += bytes
            case 10 where !model.isEmpty:
                let offset = Int.random(in: 0..<model.count, using: &random)
                try bench.write(handle, "x", at: Int64(offset))
                model[offset] = UInt8(ascii: "x")
            case 11:
                let size = Int.random(in: 0...model.count, using: &random)
                var changes = AttributeChanges()
                changes.size = Int64(size)
                let inode = try await bench.find("f").inode
                _ = try await bench.files.setAttributes(of: inode, to: changes, handle: handle)
                model.removeLast(model.count - size)
            case 12: try await bench.files.synchronize(handle)
            case 13:
                try await bench.close(handle)
                let inode = try await bench.find("f").inode
                let mode = OpenMode(reads: true, writes: true, truncates: false)
                handle = try await bench.files.open(inode, mode).handle
            default: for _ in 0..<Int.random(in: 0..<30, using: &random) { await Task.yield() }
            }
        }
        try await bench.close(handle)
        #expect((bench.store.bytes(of: ObjectName("f")) == model) as Bool)
        #expect(bench.files.transfers.count == 0)
    }
}
