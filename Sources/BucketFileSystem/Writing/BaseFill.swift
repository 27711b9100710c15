import CISAL
import Locking
import ObjectStore

/// One ranged read of the bucket's version straight into a staging file, and the checksum of what came.
@safe
final class BaseFill: ReadReceiver {
    /// Called for one piece after the other.
    typealias Sink = @Sendable (_ bytes: UnsafeRawBufferPointer, _ offset: Int64) throws(FileSystemError) -> Void

    private let sink: Sink
    private let state: Lock<State>

    private struct State {
        var offset: Int64
        var crc: UInt32 = 0
        var failure: FileSystemError?
        var continuation: CheckedContinuation<Result<UInt32, FileSystemError>, Never>?
    }

    private init(at offset: Int64, into sink: @escaping Sink) {
        unsafe self.sink = sink
        state = Lock(State(offset: offset))
    }

    /// Answers the CRC32C of the bytes of `range`.
    static func run(
        _ range: Range<Int64>, of name: ObjectName, _ generation: ObjectGeneration, from store: any ObjectStore,
        into sink: @escaping Sink
    ) async -> Result<UInt32, FileSystemError> {
        let fill = unsafe BaseFill(at: range.lowerBound, into: sink)
        return await withCheckedContinuation { continuation in
            fill.state.withLock { $0.continuation = continuation }
            let request = ReadRequest(
                name: name, objectGeneration: generation, offset: range.lowerBound, count: Int64(range.count))
            store.read(request, into: fill)
        }
    }

    func received(_ head: ReadHead) {}

    func received(_ bytes: UnsafeRawBufferPointer) {
        // Calls come one after the other, so the checksum needs no lock while it is made.
        let crc = unsafe firemount_crc32c(state.withLock { $0.crc }, bytes.baseAddress, bytes.count)
        let offset = state.withLock { state in
            state.crc = crc
            defer { state.offset += Int64(bytes.count) }
            return state.offset
        }
        do throws(FileSystemError) {
            try unsafe sink(bytes, offset)
        } catch {
            state.withLock { $0.failure = $0.failure ?? error }
        }
    }

    func completed(_ result: Result<Void, StorageError>) {
        let (continuation, failure, crc) = state.withLock { state in
            defer { state.continuation = nil }
            return (state.continuation, state.failure, state.crc)
        }
        let outcome = result.map { crc }.mapError(FileSystemError.init(reading:))
        continuation?.resume(returning: failure.map { .failure($0) } ?? outcome)
    }
}
