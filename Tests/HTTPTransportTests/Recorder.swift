import HTTPTransport
import Locking

/// A handler that writes down what it hears, and lets a test wait for the end.
final class Recorder: HTTPResponseHandler {
    struct Record: Sendable {
        var heads: [HTTPResponseHead] = []
        var body: [UInt8] = []
        var results: [Result<Void, TransportError>] = []
        var end: ContinuousClock.Instant?

        var kind: TransportError.Kind? {
            guard case .failure(let error)? = results.first else { return nil }
            return error.kind
        }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private struct State {
        var record = Record()
        var waiters: [CheckedContinuation<Record, Never>] = []
    }

    private let state = Lock(State())
    private let takesHead: @Sendable (HTTPResponseHead) -> Bool
    private let takesBytes: @Sendable (Int) -> Bool

    init(
        takesHead: @escaping @Sendable (HTTPResponseHead) -> Bool = { _ in true },
        takesBytes: @escaping @Sendable (Int) -> Bool = { _ in true }
    ) {
        self.takesHead = takesHead
        self.takesBytes = takesBytes
    }

    var record: Record { state.withLock { $0.record } }

    /// What was heard, once the end has come.
    func finished() async -> Record {
        await withCheckedContinuation { continuation in
            let record: Record? = state.withLock { state in
                if !state.record.results.isEmpty { return state.record }
                state.waiters.append(continuation)
                return nil
            }
            if let record { continuation.resume(returning: record) }
        }
    }

    func received(head: HTTPResponseHead) -> Bool {
        state.withLock { $0.record.heads.append(head) }
        return takesHead(head)
    }

    func received(bytes: UnsafeRawBufferPointer) -> Bool {
        let total = state.withLock { state in
            unsafe state.record.body.append(contentsOf: bytes)
            return state.record.body.count
        }
        return takesBytes(total)
    }

    func completed(_ result: Result<Void, TransportError>) {
        let (record, waiters) = state.withLock { state in
            state.record.results.append(result)
            state.record.end = .now
            defer { state.waiters = [] }
            return (state.record, state.waiters)
        }
        for waiter in waiters { waiter.resume(returning: record) }
    }
}
