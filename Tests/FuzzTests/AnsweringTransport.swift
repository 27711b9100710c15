import Locking

@testable import HTTPTransport

/// Answers each request with the next piece of an input: an HTTP head, line by line, an empty line, and a body. After
/// the last piece nobody answers any more.
final class AnsweringTransport: HTTPTransport {
    /// What separates two answers in an input.
    static let separator: UInt8 = 0x1E

    private let answers: Lock<ArraySlice<ArraySlice<UInt8>>>
    private let thread: WaitingThread

    /// - Parameter thread: calls the handlers.
    init(_ input: ArraySlice<UInt8>, on thread: WaitingThread) {
        self.thread = thread
        answers = Lock(input.split(separator: Self.separator, maxSplits: 32, omittingEmptySubsequences: false)[...])
    }

    private final class Transfer: HTTPTransfer {
        let isCancelled = Lock(false)
        func cancel() { isCancelled.withLock { $0 = true } }
    }

    @discardableResult
    func send(_ request: HTTPRequest, to handler: any HTTPResponseHandler) -> any HTTPTransfer {
        let transfer = Transfer()
        let answer = answers.withLock { $0.popFirst() }
        thread.run { Self.play(answer, request, to: handler, transfer) }
        return transfer
    }

    private static func play(
        _ answer: ArraySlice<UInt8>?, _ request: HTTPRequest, to handler: any HTTPResponseHandler, _ transfer: Transfer
    ) {
        guard let answer else { return fail(handler, .notConnected) }
        if case .stream(let source, let length) = request.body, !take(source, length) {
            return fail(handler, .bodySource)
        }
        var rest = answer
        do throws(TransportError) {
            let head = try rest.takeHead()
            if !handler.received(head: head) { return fail(handler, .cancelled) }
        } catch { return handler.completed(.failure(error)) }
        // In two pieces, as bodies come.
        for piece in [rest.prefix(rest.count / 2), rest.dropFirst(rest.count / 2)] where !piece.isEmpty {
            if transfer.isCancelled.withLock({ $0 }) { return fail(handler, .cancelled) }
            let takes = unsafe Array(piece).withUnsafeBytes { unsafe handler.received(bytes: $0) }
            if !takes { return fail(handler, .cancelled) }
        }
        handler.completed(.success(()))
    }

    private static func fail(_ handler: any HTTPResponseHandler, _ kind: TransportError.Kind) {
        handler.completed(.failure(TransportError(kind, "no answer")))
    }

    private static func take(_ source: any HTTPBodySource, _ length: Int64) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { unsafe buffer.deallocate() }
        var offset: Int64 = 0
        while offset < length {
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: length - offset)))
            guard let count = try? unsafe source.read(at: offset, into: room), count > 0 else { return false }
            offset += Int64(count)
        }
        return true
    }
}

extension ArraySlice<UInt8> {
    /// Takes an answer's head off the front, as curl hands it over: line by line. What is left is the body.
    mutating func takeHead() throws(TransportError) -> HTTPResponseHead {
        var parser = ResponseHeadParser()
        while true {
            guard let end = firstIndex(of: UInt8(ascii: "\n")) else { throw TransportError(.connectionLost, "no end") }
            let line = Array(self[...end])
            self = self[(end + 1)...]
            switch unsafe line.withUnsafeBytes({ unsafe parser.read($0) }) {
            case .more: continue
            case .tooLong: throw TransportError(.malformed, "too long")
            case .head(let head): return head
            }
        }
    }
}
