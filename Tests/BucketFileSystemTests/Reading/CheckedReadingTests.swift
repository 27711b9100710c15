import Locking
import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// Large objects, whose ranges have no checksum of their own: what has come in ranges is held against the checksum of
/// the whole before the last of it is handed out.
struct CheckedReadingTests {
    private static let size = 9 << 20

    private struct Damaging {
        let bench: ReadingBench
        let store: DamagingStore<InMemoryStore>

        init(
            memoryLimit: Int64 = 64 << 20, over memory: InMemoryStore = InMemoryStore(), knowsChecksum: Bool = true,
            size: Int = CheckedReadingTests.size
        ) {
            let store = DamagingStore(memory)
            self.store = store
            bench = ReadingBench(
                size: size, memoryLimit: memoryLimit, store: memory, knowsChecksum: knowsChecksum
            ) { _ in store }
        }

        /// How many bytes were read in a row before a read failed; nil: all were.
        func failure(by step: Int, cursor: ReadCursor = ReadCursor()) async -> Int? {
            var offset = 0
            while offset < bench.bytes.count {
                do {
                    offset += try await bench.content.bytes(at: Int64(offset), count: step, cursor: cursor).count
                } catch {
                    #expect((error as? StorageError)?.kind == .corrupted)
                    return offset
                }
            }
            return nil
        }
    }

    @Test(arguments: [0, 1 << 20 - 1, 5_000_000, 8 << 20, Int64(9 << 20) - 1] as [Int64], [131_072, 1 << 20])
    func aDamagedByteFailsASequentialRead(offset: Int64, step: Int) async {
        let damaging = Damaging()
        damaging.store.damages(byteAt: offset)
        let failure = await damaging.failure(by: step)
        #expect(failure != nil)
        #expect(damaging.bench.content.isDamaged)
        // And so it stays: what was handed out before may be wrong.
        #expect(await damaging.failure(by: 4_096) == 0)
        await damaging.bench.settle()
        #expect(damaging.bench.engine.budget.residentCount == 0)
    }

    @Test func theErrorNamesTheObjectAndBothChecksums() async throws {
        let damaging = Damaging()
        damaging.store.damages(byteAt: 3_000_000)
        let expected = String(try #require(damaging.bench.metadata.crc32c), radix: 16)
        _ = await damaging.failure(by: 1 << 20)
        let error = await #expect(throws: StorageError.self) { try await damaging.bench.content.bytes(at: 0, count: 1) }
        #expect(error?.object == damaging.bench.metadata.name)
        #expect(error?.message.hasSuffix(" instead of " + expected) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: 0..<8 as Range<UInt64>) func flightsMayArriveInAnyOrder(seed: UInt64) async throws {
        let latencies = Lock(SplitMix64(seed: seed))
        let memory = InMemoryStore()
        memory.setLatency { _ in .microseconds(Int64(latencies.withLock { $0.next() } % 3_000)) }
        let damaging = Damaging(over: memory)
        if seed % 2 == 0 {
            #expect(try await damaging.bench.readAll(by: 131_072))
        } else {
            damaging.store.damages(byteAt: Int64(seed) * 1_000_000)
            #expect(await damaging.failure(by: 131_072) != nil)
        }
    }

    @Test func theLastReadIsTheOneThatFailsWhereverItIs() async throws {
        let damaging = Damaging()
        damaging.store.damages(byteAt: 3_000_000)
        let content = damaging.bench.content
        // The beginning last, because it makes the reader fetch ahead.
        for piece in [1, 2, 3, 4, 6, 7, 8, 0] as [Int64] {
            #expect(try await content.bytes(at: piece << 20, count: 1 << 20).count == 1 << 20)
        }
        await #expect(throws: StorageError.self) { _ = try await content.bytes(at: 5 << 20, count: 1 << 20) }
        await #expect(throws: StorageError.self) { _ = try await content.bytes(at: 0, count: 1) }
    }

    @Test func randomReadsCountTowardsTheWhole() async throws {
        let damaging = Damaging()
        damaging.store.damages(byteAt: 5_000_000)
        var random = SplitMix64(seed: 11)
        for _ in 0..<40 {
            let offset = Int64(random.next() % UInt64(Self.size))
            _ = try await damaging.bench.content.bytes(at: offset, count: 4_096)
        }
        _ = try await damaging.bench.content.bytes(at: 5_000_000, count: 4_096)
        #expect(await damaging.failure(by: 131_072) != nil)
    }

    @Test func twoHandlesThatReadHalfEachAreCheckedTogether() async throws {
        let damaging = Damaging()
        let (content, half) = (damaging.bench.content, Int64(Self.size) / 2)
        damaging.store.damages(byteAt: 1_000)
        _ = try await content.bytes(at: 0, count: Int(half))
        await #expect(throws: StorageError.self) {
            _ = try await content.bytes(at: half, count: Int(half) + 1)
        }
    }

    @Test func aReadOfAPartIsNotHeldUp() async throws {
        let damaging = Damaging()
        damaging.store.damages(byteAt: 5_000_000)
        #expect(try await damaging.bench.content.bytes(at: 5_000_000, count: 1_000).count == 1_000)
        #expect(!damaging.bench.content.isDamaged)
    }

    @Test func withoutAKnownChecksumNothingIsChecked() async {
        let damaging = Damaging(knowsChecksum: false)
        damaging.store.damages(byteAt: 5_000_000)
        #expect(await damaging.failure(by: 1 << 20) == nil)
    }

    /// Everything is fetched a second time, because it does not fit into the memory.
    @Test(arguments: [131_072, 1 << 20]) func whatIsFetchedAgainIsCheckedAgain(step: Int) async throws {
        let damaging = Damaging(memoryLimit: 8 << 20, size: 20 << 20)
        for _ in 0..<2 { #expect(try await damaging.bench.readAll(by: step)) }
        await damaging.bench.settle()
        damaging.store.damages(byteAt: 3_000_000)
        #expect(await damaging.failure(by: step) != nil)
    }

    /// A kernel that has the beginning of what was read goes on where that ends.
    @Test func whatIsReadOnInTheMiddleIsCheckedWithWhatCameBefore() async throws {
        let damaging = Damaging(memoryLimit: 8 << 20, size: 20 << 20)
        let (bench, content) = (damaging.bench, damaging.bench.content)
        damaging.store.damages(byteAt: 1_000)
        _ = try await content.bytes(at: 0, count: 1_500_000)
        await bench.settle()
        // Out of the memory.
        for piece in 10..<20 as Range<Int64> { _ = try await content.bytes(at: piece << 20, count: 1 << 20) }
        var offset: Int64 = 1_500_000
        let cursor = ReadCursor()
        await #expect(throws: StorageError.self) {
            while offset < content.size {
                offset += Int64(try await content.bytes(at: offset, count: 131_072, cursor: cursor).count)
            }
        }
    }

    /// Its reader leaves while a request is under way, of which some bytes were read.
    @Test func whatAReaderLeavesBehindStaysAndIsChecked() async throws {
        let memory = InMemoryStore(pieceSize: 10_000)
        let damaging = Damaging(over: memory)
        let (bench, content) = (damaging.bench, damaging.bench.content)
        damaging.store.damages(byteAt: 100)
        let cursor = ReadCursor()
        memory.watchReads { end in if end > 2_500_000, end < 2_600_000 { cursor.close() } }
        for offset in stride(from: 0, to: 2_400_000, by: 100_000) {
            _ = try await content.bytes(at: Int64(offset), count: 100_000, cursor: cursor)
        }
        await bench.settle()
        memory.watchReads(nil)
        await #expect(throws: StorageError.self) { _ = try await content.bytes(at: 2_400_000, count: 8 << 20) }
    }

    @Test func aReadThatBrokeOffAndGoesOnIsCheckedAsOne() async throws {
        let failing = Lock<FailingStore<InMemoryStore>?>(nil)
        let bench = ReadingBench(size: Self.size) { store in
            let front = FailingStore(store)
            failing.withLock { $0 = front }
            return front
        }
        failing.withLock { $0!.fail(.read, call: 2, .afterBytes(300_001), with: .unreachable) }
        let cursor = ReadCursor()
        _ = try? await bench.content.bytes(at: 0, count: 3 << 20, cursor: cursor)
        await bench.settle()
        #expect(try await bench.readAll(by: 131_072, cursor: cursor))
        #expect(!bench.content.isDamaged)
    }

    /// Some servers' answers do not tell it; the object's metadata do.
    @Test func aSmallObjectIsCheckedEvenIfTheAnswerHasNoChecksum() async throws {
        let damaging = Damaging(size: 300_000)
        damaging.store.damages(byteAt: 200_000)
        #expect(try await damaging.bench.readAll(by: 4_096))
        #expect(damaging.bench.store.reads.count == 2)
    }
}
