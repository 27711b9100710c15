import Locking
import ObjectStore

/// Reads a small object into memory: a symbolic link's target.
final class WholeRead: ReadReceiver {
    private let limit: Int
    private let state = Lock(State())

    private struct State {
        var bytes: [UInt8] = []
        var continuation: CheckedContinuation<Result<[UInt8], StorageError>, Never>?
    }

    private init(limit: Int) { self.limit = limit }

    /// At most `limit` bytes from the start of `name`.
    static func run(
        _ name: ObjectName, objectGeneration: ObjectGeneration, limit: Int, from store: any ObjectStore
    ) async throws(StorageError) -> [UInt8] {
        let read = WholeRead(limit: limit)
        let result = await withCheckedContinuation { continuation in
            read.state.withLock { $0.continuation = continuation }
            let request = ReadRequest(name: name, objectGeneration: objectGeneration, count: Int64(limit))
            store.read(request, into: read)
        }
        return try result.get()
    }

    func received(_ head: ReadHead) {}

    func received(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { unsafe $0.bytes.append(contentsOf: bytes) }
    }

    func completed(_ result: Result<Void, StorageError>) {
        let (continuation, bytes) = state.withLock { state in
            defer { state.continuation = nil }
            return (state.continuation, state.bytes)
        }
        continuation?.resume(returning: result.map { bytes })
    }
}
