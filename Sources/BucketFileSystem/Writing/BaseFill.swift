import Locking
import ObjectStore

/// One ranged read of the bucket's version straight into the staging file.
final class BaseFill: ReadReceiver {
    private let contents: FileContents
    private let state: Lock<State>

    private struct State {
        var offset: Int64
        var failure: FileSystemError?
        var continuation: CheckedContinuation<Result<Void, FileSystemError>, Never>?
    }

    private init(at offset: Int64, into contents: FileContents) {
        self.contents = contents
        state = Lock(State(offset: offset))
    }

    static func run(
        _ range: Range<Int64>, of base: ObjectContent, from store: any ObjectStore, into contents: FileContents
    ) async -> Result<Void, FileSystemError> {
        let fill = BaseFill(at: range.lowerBound, into: contents)
        let (name, generation) = base.location
        return await withCheckedContinuation { continuation in
            fill.state.withLock { $0.continuation = continuation }
            let request = ReadRequest(
                name: name, objectGeneration: generation, offset: range.lowerBound, count: Int64(range.count))
            store.read(request, into: fill)
        }
    }

    func received(_ head: ReadHead) {}

    func received(_ bytes: UnsafeRawBufferPointer) {
        let offset = state.withLock { state in
            defer { state.offset += Int64(bytes.count) }
            return state.offset
        }
        do throws(FileSystemError) {
            try unsafe contents.fill(bytes, at: offset)
        } catch {
            state.withLock { $0.failure = $0.failure ?? error }
        }
    }

    func completed(_ result: Result<Void, StorageError>) {
        let (continuation, failure) = state.withLock { state in
            defer { state.continuation = nil }
            return (state.continuation, state.failure)
        }
        let outcome = result.mapError(FileSystemError.init(reading:))
        continuation?.resume(returning: failure.map { .failure($0) } ?? outcome)
    }
}
