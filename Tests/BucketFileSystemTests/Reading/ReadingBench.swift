import Glibc
import Locking
import Logging
import ObjectStore
import TestSupport

@testable import BucketFileSystem

/// One object in a store in memory, and an engine that reads it.
struct ReadingBench {
    static let mebibyte = 1 << 20

    let store: InMemoryStore
    let engine: ReadEngine
    let bytes: [UInt8]
    let metadata: ObjectMetadata
    let content: ObjectContent

    init(
        size: Int, memoryLimit: Int64 = 64 << 20, store: InMemoryStore = InMemoryStore(), knowsChecksum: Bool = true,
        through front: ((InMemoryStore) -> any ObjectStore)? = nil
    ) {
        self.store = store
        bytes = Self.pattern(size)
        metadata = store.put("object", bytes)
        engine = ReadEngine(store: front?(store) ?? store, memoryLimit: memoryLimit, log: .silent)
        content = ObjectContent(
            engine: engine, name: metadata.name, objectGeneration: metadata.objectGeneration, size: Int64(size),
            crc32c: knowsChecksum ? metadata.crc32c : nil)
    }

    /// Random bytes that repeat, with a period that no block or chunk has.
    static func pattern(_ count: Int) -> [UInt8] {
        var random = SplitMix64(seed: 1)
        let period = random.bytes(min(count, 100_003))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + period.count)
        while bytes.count < count { bytes += period }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Reads in pieces until the end; the bytes must be those of the object.
    func readAll(by step: Int, cursor: ReadCursor = ReadCursor()) async throws -> Bool {
        var offset = 0
        while offset < bytes.count {
            let piece = try await content.bytes(at: Int64(offset), count: step, cursor: cursor)
            guard piece.isPart(of: bytes, at: offset, count: min(step, bytes.count - offset)) else { return false }
            offset += piece.count
        }
        return true
    }

    /// Waits until nothing is under way, so that what was fetched ahead is all counted.
    func settle() async {
        while content.isFetching { await Task.yield() }
    }
}

extension ObjectContent {
    func bytes(at offset: Int64, count: Int, cursor: ReadCursor = ReadCursor()) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            read(at: offset, count: count, cursor: cursor) { result in
                continuation.resume(with: result.map { $0.copied }.mapError { $0 as any Error })
            }
        }
    }

    /// The read is under way, or over, when this returns.
    func startReading(at offset: Int64, count: Int, cursor: ReadCursor) -> Task<[UInt8], any Error> {
        let (answers, answer) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        read(at: offset, count: count, cursor: cursor) { result in
            answer.yield(with: result.map { $0.copied }.mapError { $0 as any Error })
            answer.finish()
        }
        return Task { try await answers.reduce(into: []) { $0 = $1 } }
    }

    /// What a read answers before it returns; nil if it has to wait.
    func bytesAtOnce(at offset: Int64, count: Int, cursor: ReadCursor = ReadCursor()) -> [UInt8]? {
        let box = Answer()
        read(at: offset, count: count, cursor: cursor) { box.put(try? $0.get().copied) }
        return box.value
    }
}

private final class Answer: Sendable {
    private let state = Lock<[UInt8]?>(nil)

    var value: [UInt8]? { state.withLock { $0 } }
    func put(_ bytes: [UInt8]?) { state.withLock { $0 = bytes } }
}

extension ReadBytes {
    var copied: [UInt8] {
        var bytes: [UInt8] = []
        for piece in pieces { unsafe bytes += piece.bytes }
        return bytes
    }
}

extension [UInt8] {
    /// Compared in one go: a loop over bytes is slow in debug builds.
    func isPart(of whole: [UInt8], at offset: Int, count: Int) -> Bool {
        guard self.count == count, offset + count <= whole.count else { return false }
        return unsafe withUnsafeBytes { mine in
            unsafe whole.withUnsafeBytes { all in
                unsafe count == 0 || memcmp(mine.baseAddress!, all.baseAddress! + offset, count) == 0
            }
        }
    }
}

extension InMemoryStore {
    /// Parts of the object that were asked for more than once.
    var rangesReadTwice: [Range<Int64>] {
        let ranges = reads.map { $0.offset..<$0.offset + ($0.count ?? 0) }.sorted { $0.lowerBound < $1.lowerBound }
        return zip(ranges, ranges.dropFirst()).filter { $0.overlaps($1) }.map { $0.clamped(to: $1) }
    }
}
