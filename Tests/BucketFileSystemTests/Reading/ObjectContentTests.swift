import Locking
import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

struct ObjectContentTests {
    private static let mebibyte = 1 << 20

    // MARK: Opening

    @Test func aColdSmallFileCostsOneRequest() async throws {
        let bench = ReadingBench(size: 100 << 10)
        try await bench.content.validateAndPrefetch()
        #expect(bench.content.holdsBeginning)
        #expect(try await bench.readAll(by: 4_096))
        #expect(bench.store.requestCount == 1)
        #expect(bench.store.reads.first?.objectGeneration == nil)
    }

    @Test func aSmallFileThatIsReadWithoutAnOpenCostsOneRequestToo() async throws {
        let bench = ReadingBench(size: 100 << 10)
        #expect(try await bench.readAll(by: 4_096))
        #expect(bench.store.requestCount == 1)
    }

    @Test func theBeginningOfALargeFileIsOneMebibyte() async throws {
        let bench = ReadingBench(size: 5 * Self.mebibyte)
        #expect(!bench.content.holdsBeginning)
        try await bench.content.validateAndPrefetch()
        #expect(bench.content.holdsBeginning)
        #expect(bench.store.reads.map(\.count) == [1 << 20])
    }

    @Test func opensAtOnceShareARequest() async throws {
        let bench = ReadingBench(size: 100 << 10)
        bench.store.hold(.read)
        async let first: Void = bench.content.validateAndPrefetch()
        async let second: Void = bench.content.validateAndPrefetch()
        await bench.store.waitUntilHeld(.read)
        bench.store.release(.read)
        _ = try await (first, second)
        #expect(bench.store.requestCount == 1)
    }

    @Test func anOpenThatMeetsAnotherGenerationFailsAndKeepsNothing() async throws {
        let bench = ReadingBench(size: 100 << 10)
        bench.store.put("object", [1, 2, 3])
        await #expect(throws: StorageError.self) { try await bench.content.validateAndPrefetch() }
        #expect(!bench.content.holdsBeginning)
        #expect(bench.engine.budget.residentCount == 0)
    }

    @Test func anOpenIsAnsweredByTheHeadBeforeTheBytes() async throws {
        let bench = ReadingBench(
            size: 100 << 10, store: InMemoryStore(pieceSize: 1_024, pieceInterval: .seconds(3_600)))
        try await bench.content.validateAndPrefetch()
        #expect(bench.content.isFetching)
        bench.content.discard()
    }

    @Test func aCancelledOpenLetsGoAndTheRequestGoesOn() async throws {
        let bench = ReadingBench(size: 100 << 10)
        bench.store.hold(.read)
        let open = Task { try await bench.content.validateAndPrefetch() }
        await bench.store.waitUntilHeld(.read)
        open.cancel()
        await #expect(throws: StorageError.self) { try await open.value }
        bench.store.release(.read)
        #expect(try await bench.readAll(by: 100 << 10))
        #expect(bench.store.requestCount == 1)
    }

    // MARK: Reading

    @Test func bytesInMemoryAreAnsweredAtOnce() async throws {
        let bench = ReadingBench(size: 3 * Self.mebibyte)
        #expect(try await bench.readAll(by: 1 << 20))
        await bench.settle()
        bench.store.resetCounts()
        let wanted = 1_048_000..<1_148_000
        #expect(bench.content.bytesAtOnce(at: 1_048_000, count: 100_000) == Array(bench.bytes[wanted]))
        #expect(bench.store.requestCount == 0)
    }

    @Test(arguments: [(10, 0), (10, 1), (0, 5)]) func readsPastTheEndReturnNoBytes(size: Int, past: Int) async throws {
        let bench = ReadingBench(size: size)
        #expect(try await bench.content.bytes(at: Int64(size + past), count: 100) == [])
        #expect(bench.store.requestCount == 0)
    }

    @Test func aReadAcrossTheEndIsCut() async throws {
        let bench = ReadingBench(size: 1_000)
        #expect(try await bench.content.bytes(at: 900, count: 4_096) == Array(bench.bytes[900...]))
    }

    @Test func aReadIsAnsweredWhenItsBytesAreThereNotTheWholeRequest() async throws {
        let bench = ReadingBench(
            size: 2 * Self.mebibyte, store: InMemoryStore(pieceSize: 64 << 10, pieceInterval: .seconds(3_600)))
        _ = try await bench.content.bytes(at: 0, count: 4_096)
        #expect(bench.content.isFetching)
        bench.content.discard()
    }

    @Test(arguments: [4_096, 131_072, 1 << 20, 300_001]) func aSequentialReadAsksForNoByteTwice(step: Int) async throws
    {
        let bench = ReadingBench(size: 64 * Self.mebibyte, memoryLimit: 256 << 20)
        #expect(try await bench.readAll(by: step))
        await bench.settle()
        #expect(bench.store.rangesReadTwice.isEmpty)
        #expect(bench.store.reads.reduce(0) { $0 + $1.count! } == 64 << 20)
        #expect(bench.store.reads.allSatisfy { $0.objectGeneration == bench.metadata.objectGeneration })
    }

    @Test func aSequentialReadOfMoreThanTheMemoryAsksForNoByteTwice() async throws {
        let bench = ReadingBench(size: 64 * Self.mebibyte, memoryLimit: 16 << 20)
        #expect(try await bench.readAll(by: 131_072))
        await bench.settle()
        #expect(bench.store.rangesReadTwice.isEmpty)
        #expect(bench.engine.budget.mappedBytes <= 16 << 20)
    }

    @Test func aThousandRandomReadsMakeNoMoreThanAThousandSmallRequests() async throws {
        let bench = ReadingBench(size: 64 * Self.mebibyte, memoryLimit: 256 << 20)
        let cursor = ReadCursor()
        var random = SplitMix64(seed: 7)
        for _ in 0..<1_000 {
            let offset = Int(random.next() % UInt64(bench.bytes.count / 4_096)) * 4_096
            let bytes = try await bench.content.bytes(at: Int64(offset), count: 4_096, cursor: cursor)
            #expect(bytes.elementsEqual(bench.bytes[offset..<offset + 4_096]))
        }
        await bench.settle()
        #expect(bench.store.requestCount <= 1_000)
        #expect(bench.store.rangesReadTwice.isEmpty)
        #expect(bench.store.reads.filter { $0.count! > 64 << 10 }.count <= 8)
    }

    @Test func neighboursOfARandomReadCameAlong() async throws {
        let bench = ReadingBench(size: 64 * Self.mebibyte)
        _ = try await bench.content.bytes(at: 10 << 20, count: 4_096)
        await bench.settle()
        #expect(bench.content.bytesAtOnce(at: 10 << 20 + 60 << 10, count: 4_096) != nil)
        #expect(bench.store.requestCount == 1)
    }

    @Test func manyReadersOfOnePlaceShareARequest() async throws {
        let bench = ReadingBench(size: 8 * Self.mebibyte)
        bench.store.hold(.read)
        async let answers = withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<32 { group.addTask { try await bench.content.bytes(at: 5 << 20, count: 4_096) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await bench.store.waitUntilHeld(.read)
        bench.store.release(.read)
        #expect(try await answers.allSatisfy { $0.elementsEqual(bench.bytes[5 << 20..<5 << 20 + 4_096]) })
        #expect(bench.store.requestCount == 1)
    }

    @Test func sixtyFourRandomReadsAreInFlightAtOnce() async throws {
        let bench = ReadingBench(size: 64 * Self.mebibyte)
        bench.store.hold(.read)
        let cursor = ReadCursor()
        let reads = (0..<64).map { index in
            Task { try await bench.content.bytes(at: Int64(index) << 20, count: 4_096, cursor: cursor) }
        }
        await bench.store.waitUntilHeld(.read, count: 64)
        bench.store.release(.read)
        for read in reads { #expect(try await read.value.count == 4_096) }
    }

    @Test func sixteenThreadsInOneFileEachGetAWindow() async throws {
        let bench = ReadingBench(size: 64 * Self.mebibyte, memoryLimit: 256 << 20)
        let cursor = ReadCursor()
        for step in 0..<8 {
            for thread in 0..<16 {
                _ = try await bench.content.bytes(
                    at: Int64(thread) << 22 + Int64(step) << 17, count: 1 << 17, cursor: cursor)
            }
        }
        await bench.settle()
        #expect(bench.store.requestCount < 16 * 6)
    }

    @Test func closingTheCursorCancelsWhatWasFetchedAheadExceptWhatIsWaitedFor() async throws {
        let bench = ReadingBench(size: 64 * Self.mebibyte, memoryLimit: 64 << 20)
        let cursor = ReadCursor()
        _ = try await bench.content.bytes(at: 0, count: 1 << 20, cursor: cursor)
        await bench.settle()
        let front = bench.store.reads.map { $0.offset + $0.count! }.max()!
        bench.store.hold(.read)
        _ = bench.content.bytesAtOnce(at: 1 << 20, count: 1 << 20, cursor: cursor)
        #expect(bench.store.heldCount(.read) > 2)
        let next = bench.content.startReading(at: front, count: 4_096, cursor: cursor)
        cursor.close()
        #expect(bench.store.heldCount(.read) == 1)
        bench.store.release(.read)
        #expect(try await next.value.isPart(of: bench.bytes, at: Int(front), count: 4_096))
    }

    // MARK: Renames, replacements, failures

    @Test func aReadUnderWayFollowsARename() async throws {
        let bench = ReadingBench(size: 100 << 10)
        bench.store.hold(.read)
        let read = Task { try await bench.content.bytes(at: 0, count: 100 << 10) }
        await bench.store.waitUntilHeld(.read)
        let moved = try await bench.store.move(
            ObjectCopy(source: bench.metadata.name, destination: ObjectName("renamed")))
        bench.content.relocate(to: moved.name, objectGeneration: moved.objectGeneration)
        bench.store.release(.read)
        #expect(try await read.value == bench.bytes)
        #expect(bench.store.reads.map(\.name.description) == ["object", "renamed"])
    }

    @Test func anOpenUnderWayFollowsARename() async throws {
        let bench = ReadingBench(size: 100 << 10)
        bench.store.hold(.read)
        let open = Task { try await bench.content.validateAndPrefetch() }
        await bench.store.waitUntilHeld(.read)
        let moved = try await bench.store.move(
            ObjectCopy(source: bench.metadata.name, destination: ObjectName("renamed")))
        bench.content.relocate(to: moved.name, objectGeneration: moved.objectGeneration)
        bench.store.release(.read)
        try await open.value
        #expect(bench.content.holdsBeginning)
    }

    @Test func readsOfAReplacedObjectFailAndWhatWasReadStays() async throws {
        let bench = ReadingBench(size: 4 * Self.mebibyte)
        let cursor = ReadCursor()
        _ = try await bench.content.bytes(at: 0, count: 4_096, cursor: cursor)
        await bench.settle()
        bench.store.put("object", [1])
        await #expect(throws: StorageError.self) {
            try await bench.content.bytes(at: 3 << 20, count: 4_096, cursor: cursor)
        }
        #expect(bench.content.bytesAtOnce(at: 0, count: 4_096) == Array(bench.bytes[..<4_096]))
    }

    @Test func aFailureReachesEveryReaderThatWaitsAndTheNextReadTriesAgain() async throws {
        let failing = Lock<FailingStore<InMemoryStore>?>(nil)
        let bench = ReadingBench(size: 100 << 10) { store in
            let front = FailingStore(store)
            failing.withLock { $0 = front }
            return front
        }
        failing.withLock { $0!.fail(.read, .beforeEffect, with: .serverFailed) }
        bench.store.hold(.read)
        let reads = (0..<4).map { _ in Task { try await bench.content.bytes(at: 0, count: 4_096) } }
        await bench.store.waitUntilHeld(.read)
        bench.store.release(.read)
        var failures = 0
        for read in reads {
            if case .failure = await read.result { failures += 1 }
        }
        #expect(failures >= 1)
        #expect(try await bench.readAll(by: 4_096))
    }

    @Test func aReadThatBreaksOffKeepsWhatItBrought() async throws {
        let failing = Lock<FailingStore<InMemoryStore>?>(nil)
        let bench = ReadingBench(size: 2 * Self.mebibyte) { store in
            let front = FailingStore(store)
            failing.withLock { $0 = front }
            return front
        }
        failing.withLock { $0!.fail(.read, .afterBytes(300_000), with: .unreachable) }
        await #expect(throws: StorageError.self) { try await bench.content.bytes(at: 0, count: 1 << 20) }
        #expect(bench.content.bytesAtOnce(at: 200_000, count: 100_000) == Array(bench.bytes[200_000..<300_000]))
        #expect(try await bench.readAll(by: 1 << 20))
        #expect(bench.store.reads.map(\.offset).contains(300_000))
    }

    @Test func aDamagedSmallObjectIsFetchedAgainAndNoByteOfItIsHandedOutBefore() async throws {
        let failing = Lock<FailingStore<InMemoryStore>?>(nil)
        let bench = ReadingBench(size: 300_000) { store in
            let front = FailingStore(store)
            failing.withLock { $0 = front }
            return front
        }
        failing.withLock { $0!.fail(.read, .afterEffect, with: .corrupted) }
        #expect(try await bench.content.bytes(at: 0, count: 4_096) == Array(bench.bytes[..<4_096]))
        #expect(bench.store.reads.count == 2)
        #expect(bench.content.bytesAtOnce(at: 299_000, count: 1_000) != nil)
    }

    @Test func aSmallObjectThatStaysDamagedIsAnError() async throws {
        let failing = Lock<FailingStore<InMemoryStore>?>(nil)
        let bench = ReadingBench(size: 300_000) { store in
            let front = FailingStore(store)
            failing.withLock { $0 = front }
            return front
        }
        failing.withLock { $0!.fail(.read, call: nil, .afterEffect, with: .corrupted) }
        await #expect(throws: StorageError.self) { try await bench.content.bytes(at: 0, count: 4_096) }
    }

    @Test func aFailedReadAheadIsFetchedAgainOnDemand() async throws {
        let failing = Lock<FailingStore<InMemoryStore>?>(nil)
        let bench = ReadingBench(size: 16 * Self.mebibyte) { store in
            let front = FailingStore(store)
            failing.withLock { $0 = front }
            return front
        }
        let cursor = ReadCursor()
        _ = try await bench.content.bytes(at: 0, count: 1 << 20, cursor: cursor)
        await bench.settle()
        failing.withLock { $0!.fail(.read, call: 3, .beforeEffect, with: .unreachable) }
        _ = try await bench.content.bytes(at: 1 << 20, count: 131_072, cursor: cursor)
        await bench.settle()
        #expect(try await bench.readAll(by: 131_072, cursor: cursor))
    }

    @Test func aDiscardedContentFetchesAnew() async throws {
        let bench = ReadingBench(size: 100 << 10)
        #expect(try await bench.readAll(by: 100 << 10))
        await bench.settle()
        bench.content.discard()
        #expect(bench.engine.budget.residentCount == 0)
        bench.store.hold(.read)
        #expect(bench.content.bytesAtOnce(at: 0, count: 1) == nil)
        bench.store.release(.read)
        await bench.settle()
    }
}
