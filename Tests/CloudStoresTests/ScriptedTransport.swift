import HTTPTransport
import Locking
import TestSupport

/// Plays answers in the order of a script and remembers what it was asked. Its calls come from one thread of its own,
/// as the real one's do.
final class ScriptedTransport: HTTPTransport {
    /// What comes of one request.
    enum Step: Sendable {
        case answer(_ status: Int, _ headers: [(name: String, value: String)] = [], _ body: [UInt8] = [])
        /// Fails without an answer.
        case failure(TransportError.Kind)
        /// The answer's head and a part of its body, then a failure.
        case broken(
            _ status: Int, _ headers: [(name: String, value: String)], _ body: [UInt8], TransportError.Kind)
        /// Takes only `count` bytes of the request's body and fails.
        case takes(_ count: Int64, TransportError.Kind)
        /// Reads the request's body, starts over, and then does what `then` says, as curl does after a kept connection
        /// turned out to be closed.
        indirect case rewinds(then: Step)
        /// No answer until the request is cancelled.
        case silence

        static func json(_ text: String, _ status: Int = 200) -> Step {
            .answer(status, [("content-type", "application/json; charset=UTF-8")], Array(text.utf8))
        }

        static func error(_ status: Int, reason: String = "reason", retryAfter: String? = nil) -> Step {
            let body = #"{"error":{"code":\#(status),"message":"no: \#(status)","errors":[{"reason":"\#(reason)"}]}}"#
            return .answer(status, retryAfter.map { [("retry-after", $0)] } ?? [], Array(body.utf8))
        }
    }

    struct Asked: Sendable {
        var request: HTTPRequest
        /// What was read of the body.
        var body: [UInt8] = []

        var text: String { String(decoding: body, as: UTF8.self) }
        var path: String { String(request.url.split(separator: "?")[0]).replacing("http://127.0.0.1:1", with: "") }

        func header(_ name: String) -> String? { request.headers.first { $0.name == name }?.value }

        /// Not decoded.
        func query(_ name: String) -> String? {
            let parts = request.url.split(separator: "?")
            guard parts.count == 2 else { return nil }
            return parts[1].split(separator: "&").first { $0.hasPrefix(name + "=") }.map {
                String($0.dropFirst(name.count + 1))
            }
        }
    }

    private struct State {
        var script: [Step]
        var asked: [Asked] = []
        var silent: [SilentTransfer] = []
    }

    private let state: Lock<State>
    private let thread = TimedQueue()
    /// In how big pieces bodies come and go.
    private let pieceSize: Int

    init(_ script: [Step], pieceSize: Int = 1_000) {
        state = Lock(State(script: script))
        self.pieceSize = pieceSize
    }

    var asked: [Asked] { state.withLock { $0.asked } }
    /// Steps that nobody came for.
    var left: Int { state.withLock { $0.script.count } }

    @discardableResult
    func send(_ request: HTTPRequest, to handler: any HTTPResponseHandler) -> any HTTPTransfer {
        let (index, step) = state.withLock { state in
            state.asked.append(Asked(request: request))
            return (state.asked.count - 1, state.script.isEmpty ? nil : state.script.removeFirst())
        }
        let transfer = SilentTransfer(handler)
        thread.run { [self] in
            guard let step else { return handler.completed(.failure(TransportError(.malformed, "the script is over"))) }
            play(step, request, index, handler, transfer)
        }
        return transfer
    }

    private func play(
        _ step: Step, _ request: HTTPRequest, _ index: Int, _ handler: any HTTPResponseHandler,
        _ transfer: SilentTransfer
    ) {
        switch step {
        case .answer(let status, let headers, let body):
            guard take(request, Int64.max, index, handler) else { return }
            answer(status, headers, body, .success(()), handler)
        case .failure(let kind): handler.completed(.failure(TransportError(kind, "\(kind)")))
        case .broken(let status, let headers, let body, let kind):
            guard take(request, Int64.max, index, handler) else { return }
            answer(status, headers, body, .failure(TransportError(kind, "\(kind)")), handler)
        case .takes(let count, let kind):
            guard take(request, count, index, handler) else { return }
            handler.completed(.failure(TransportError(kind, "\(kind)")))
        case .rewinds(let next):
            guard take(request, Int64.max, index, handler) else { return }
            state.withLock { $0.asked[index].body = [] }
            play(next, request, index, handler, transfer)
        case .silence: transfer.becomesSilent()
        }
    }

    private func answer(
        _ status: Int, _ headers: [(name: String, value: String)], _ body: [UInt8],
        _ end: Result<Void, TransportError>, _ handler: any HTTPResponseHandler
    ) {
        let cancelled = Result<Void, TransportError>.failure(TransportError(.cancelled, "stopped by its handler"))
        guard handler.received(head: HTTPResponseHead(status: status, headers: headers)) else {
            return handler.completed(cancelled)
        }
        for start in stride(from: 0, to: body.count, by: pieceSize) {
            let piece = Array(body[start..<min(start + pieceSize, body.count)])
            let goesOn = unsafe piece.withUnsafeBytes { bytes in unsafe handler.received(bytes: bytes) }
            guard goesOn else { return handler.completed(cancelled) }
        }
        handler.completed(end)
    }

    /// Reads up to `limit` bytes of the request's body; false when its source failed.
    private func take(
        _ request: HTTPRequest, _ limit: Int64, _ index: Int, _ handler: any HTTPResponseHandler
    ) -> Bool {
        var taken: [UInt8] = []
        switch request.body {
        case .none: break
        case .bytes(let bytes): taken = bytes
        case .stream(let source, let length):
            var piece = [UInt8](repeating: 0, count: pieceSize)
            while Int64(taken.count) < min(length, limit) {
                do {
                    let room = Int(min(Int64(pieceSize), min(length, limit) - Int64(taken.count)))
                    let count = try unsafe piece.withUnsafeMutableBytes { buffer in
                        try unsafe source.read(
                            at: Int64(taken.count), into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]))
                    }
                    taken += piece[..<count]
                } catch {
                    handler.completed(.failure(TransportError(.bodySource, "\(error)")))
                    return false
                }
            }
        }
        let read = taken
        state.withLock { $0.asked[index].body = read }
        return true
    }
}

/// A request that can be cancelled while nobody answers it.
final class SilentTransfer: HTTPTransfer {
    private struct State {
        var isSilent = false
        var isCancelled = false
    }

    private let handler: any HTTPResponseHandler
    private let state = Lock(State())

    init(_ handler: any HTTPResponseHandler) { self.handler = handler }

    func becomesSilent() {
        let isCancelled = state.withLock { state in
            state.isSilent = true
            return state.isCancelled
        }
        if isCancelled { end() }
    }

    func cancel() {
        let isDue = state.withLock { state in
            defer { state.isCancelled = true }
            return state.isSilent && !state.isCancelled
        }
        if isDue { end() }
    }

    private func end() { handler.completed(.failure(TransportError(.cancelled, "cancelled"))) }
}
