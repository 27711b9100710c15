import Locking
import Logging
import ObjectStore

// Stands in until the reading engine is in place; that replaces this file.
final class ReadEngine: Sendable {
    let store: any ObjectStore
    init(store: any ObjectStore, memoryLimit: Int64, log: Logger) { self.store = store }
}

final class ObjectContent: Sendable {
    let engine: ReadEngine
    let size: Int64
    private let place: Lock<(name: ObjectName, objectGeneration: ObjectGeneration)>
    init(engine: ReadEngine, name: ObjectName, objectGeneration: ObjectGeneration, size: Int64) {
        self.engine = engine
        self.size = size
        place = Lock((name, objectGeneration))
    }
    func relocate(to name: ObjectName, objectGeneration: ObjectGeneration) {
        place.withLock { $0 = (name, objectGeneration) }
    }
    var holdsBeginning: Bool { true }
    var objectGeneration: ObjectGeneration { place.withLock { $0.objectGeneration } }
    var location: (name: ObjectName, objectGeneration: ObjectGeneration) { place.withLock { $0 } }
    func validateAndPrefetch() async throws(StorageError) {}
    func read(
        at offset: Int64, count: Int, cursor: ReadCursor,
        completion: @escaping @Sendable (Result<ReadBytes, StorageError>) -> Void
    ) {
        guard offset < size else { return completion(.success(ReadBytes(pieces: []))) }
        let here = location
        engine.store.read(
            ReadRequest(name: here.name, objectGeneration: here.objectGeneration, offset: offset, count: Int64(count)),
            into: Collector(completion))
    }
    func discard() {}
}

final class ReadCursor: Sendable {
    init() {}
    func close() {}
}

private final class Collector: ReadReceiver {
    let bytes = Lock<[UInt8]>([])
    let completion: @Sendable (Result<ReadBytes, StorageError>) -> Void
    init(_ completion: @escaping @Sendable (Result<ReadBytes, StorageError>) -> Void) { self.completion = completion }
    func received(_ head: ReadHead) {}
    func received(_ piece: UnsafeRawBufferPointer) { bytes.withLock { unsafe $0.append(contentsOf: piece) } }
    func completed(_ result: Result<Void, StorageError>) {
        completion(result.map { Held(bytes.withLock { $0 }).read })
    }
}

@safe private final class Held: @unchecked Sendable {
    let buffer: UnsafeMutableRawBufferPointer
    init(_ bytes: [UInt8]) {
        unsafe buffer = .allocate(byteCount: max(1, bytes.count), alignment: 16)
        unsafe buffer.copyBytes(from: bytes)
        count = bytes.count
    }
    let count: Int
    deinit { unsafe buffer.deallocate() }
    var read: ReadBytes {
        unsafe ReadBytes(pieces: [
            ReadBytes.Piece(bytes: UnsafeRawBufferPointer(rebasing: buffer[..<count]), owner: self)
        ])
    }
}
