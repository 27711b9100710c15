import Locking
import Logging
import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// Random reads with random delays and very little memory: right bytes, inside the limit, and always an end.
struct ReadingUnderPressureTests {
    private static let limit: Int64 = 8 << 20

    @Test(.timeLimit(.minutes(1)), arguments: 0..<12 as Range<UInt64>)
    func manyReadersOfManyObjectsGetTheirBytes(seed: UInt64) async throws {
        let store = InMemoryStore(pieceSize: 100_000)
        let latencies = Lock(SplitMix64(seed: seed))
        store.setLatency { _ in .microseconds(Int64(latencies.withLock { $0.next() } % 3_000)) }
        let engine = ReadEngine(store: store, memoryLimit: Self.limit, log: .silent)
        let bytes = ReadingBench.pattern(12_345_678)
        let contents = [12_345_678, 5_000_000, 1 << 20, 70_000, 1].map { size in
            let metadata = store.put("object-\(size)", Array(bytes[..<size]))
            return ObjectContent(
                engine: engine, name: metadata.name, objectGeneration: metadata.objectGeneration, size: Int64(size),
                crc32c: metadata.crc32c)
        }
        let areRight = try await withThrowingTaskGroup(of: Bool.self) { group in
            for reader in 0..<16 as Range<UInt64> {
                group.addTask {
                    var random = SplitMix64(seed: seed << 8 + reader)
                    return try await Self.readAround(contents, of: bytes, engine, &random)
                }
            }
            return try await group.allSatisfy { $0 }
        }
        #expect(areRight)
        #expect(engine.budget.queueLength == 0)
    }

    /// A reader that goes its way in one object, or jumps, and sometimes leaves.
    private static func readAround(
        _ contents: [ObjectContent], of bytes: [UInt8], _ engine: ReadEngine, _ random: inout SplitMix64
    ) async throws -> Bool {
        var content = contents[0]
        var cursor = ReadCursor()
        var offset: Int64 = 0
        for _ in 0..<60 {
            switch random.next() % 10 {
            case 0:
                content = contents[Int(random.next() % UInt64(contents.count))]
                cursor = ReadCursor()
                offset = 0
                try await content.validateAndPrefetch()
            case 1: offset = Int64(random.next() % UInt64(content.size))
            default: break
            }
            let count = Int(random.next() % (random.next() % 2 == 0 ? 8_192 : 1 << 20)) + 1
            let read = try await content.bytes(at: offset, count: count, cursor: cursor)
            let end = min(content.size, offset + Int64(count))
            guard read.isPart(of: bytes, at: Int(offset), count: Int(max(0, end - offset))) else { return false }
            guard engine.budget.mappedBytes <= limit else { return false }
            offset = end < content.size ? end : 0
        }
        return true
    }

    @Test(.timeLimit(.minutes(1))) func repliesThatAreHeldCountAndLetGo() async throws {
        let bench = ReadingBench(size: 32 << 20, memoryLimit: Self.limit)
        var held: [ReadBytes] = []
        for index in 0..<7 as Range<Int64> {
            held.append(try await bench.content.held(at: index * 4 << 20 + 1 << 19, count: 1 << 20))
        }
        let late = Task { try await bench.content.bytes(at: 30 << 20, count: 2 << 20) }
        while bench.engine.budget.queueLength == 0 { await Task.yield() }
        #expect(bench.engine.budget.mappedBytes <= Self.limit)
        held = []
        #expect(try await late.value.count == 2 << 20)
    }

    @Test(.timeLimit(.minutes(1))) func sequentialReadersSideBySideEachGetTheirOwn() async throws {
        let store = InMemoryStore()
        store.setLatency(.milliseconds(1))
        let bench = ReadingBench(size: 24 << 20, memoryLimit: 16 << 20, store: store)
        let areRight = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { try await bench.readAll(by: 131_072) } }
            return try await group.allSatisfy { $0 }
        }
        #expect(areRight)
        #expect(bench.engine.budget.mappedBytes <= 16 << 20)
    }

    @Test(.timeLimit(.minutes(1)), arguments: 0..<4 as Range<UInt64>)
    func failuresAtRandomNeverLeaveAReaderWaiting(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let failing = Lock<FailingStore<InMemoryStore>?>(nil)
        let bench = ReadingBench(size: 24 << 20, memoryLimit: Self.limit) { store in
            let front = FailingStore(store)
            failing.withLock { $0 = front }
            return front
        }
        for call in 1...200 where random.next() % 3 == 0 {
            let moment: FailingStore<InMemoryStore>.Moment =
                random.next() % 2 == 0 ? .beforeEffect : .afterBytes(Int(random.next() % 500_000))
            failing.withLock { $0!.fail(.read, call: call, moment, with: .unreachable) }
        }
        let cursor = ReadCursor()
        var offset = 0
        while offset < bench.bytes.count {
            guard let read = try? await bench.content.bytes(at: Int64(offset), count: 131_072, cursor: cursor) else {
                continue
            }
            #expect(read.isPart(of: bench.bytes, at: offset, count: read.count))
            offset += read.count
        }
    }
}

extension ObjectContent {
    fileprivate func held(at offset: Int64, count: Int) async throws -> ReadBytes {
        try await withCheckedThrowingContinuation { continuation in
            read(at: offset, count: count, cursor: ReadCursor()) { result in
                continuation.resume(with: result.mapError { $0 as any Error })
            }
        }
    }
}
