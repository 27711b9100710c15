import Locking

/// A whole answer whose body is small enough to keep in memory.
package struct HTTPAnswer: Sendable {
    package let head: HTTPResponseHead
    package let body: [UInt8]

    package init(head: HTTPResponseHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }

    package var status: Int { head.status }
}

extension HTTPTransport {
    /// Sends `request` and collects its whole answer, whatever its status. Cancelling the task cancels the request.
    /// - Parameter bodyLimit: the longest body accepted, in bytes; a longer one is a `.malformed` answer.
    /// - Throws: what the transport reports; `.cancelled` when the task was cancelled.
    package func answer(to request: HTTPRequest, bodyLimit: Int) async throws(TransportError) -> HTTPAnswer {
        let collector = AnswerCollector(bodyLimit: bodyLimit)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                collector.wait(with: continuation)
                collector.follow(send(request, to: collector))
            }
        } onCancel: {
            collector.cancel()
        }
        return try result.get()
    }
}

/// Gathers one answer for the one task that waits for it. The transport's thread fills it; any thread may cancel it.
private final class AnswerCollector: HTTPResponseHandler {
    typealias Outcome = Result<HTTPAnswer, TransportError>

    private struct State {
        var head: HTTPResponseHead?
        var body: [UInt8] = []
        var isTooLarge = false
        var isCancelled = false
        var transfer: (any HTTPTransfer)?
        var waiter: CheckedContinuation<Outcome, Never>?
    }

    private let bodyLimit: Int
    private let state = Lock(State())

    init(bodyLimit: Int) { self.bodyLimit = bodyLimit }

    func wait(with continuation: CheckedContinuation<Outcome, Never>) {
        state.withLock { $0.waiter = continuation }
    }

    /// Remembers the transfer for a later `cancel`, or cancels it at once if that came first.
    func follow(_ transfer: any HTTPTransfer) {
        let isCancelled = state.withLock { state in
            // A transfer that has completed already is not kept: it would keep this collector alive.
            if state.waiter != nil { state.transfer = transfer }
            return state.isCancelled
        }
        if isCancelled { transfer.cancel() }
    }

    func cancel() {
        let transfer = state.withLock { state in
            state.isCancelled = true
            return state.transfer
        }
        transfer?.cancel()
    }

    func received(head: HTTPResponseHead) -> Bool {
        state.withLock { state in
            state.head = head
            if let length = head.first("content-length").flatMap({ Int($0) }), length > 0 {
                state.body.reserveCapacity(min(length, bodyLimit))
            }
        }
        return true
    }

    func received(bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            guard bytes.count <= bodyLimit - state.body.count else {
                state.isTooLarge = true
                return false
            }
            unsafe state.body.append(contentsOf: bytes)
            return true
        }
    }

    func completed(_ result: Result<Void, TransportError>) {
        let final = state.withLock { state in
            let final = state
            state.waiter = nil
            state.transfer = nil
            state.body = []
            return final
        }
        final.waiter?.resume(returning: outcome(of: result, final))
    }

    private func outcome(of result: Result<Void, TransportError>, _ state: State) -> Outcome {
        if state.isTooLarge {
            return .failure(TransportError(.malformed, "the answer is longer than \(bodyLimit) bytes"))
        }
        return result.flatMap {
            guard let head = state.head else {
                return .failure(TransportError(.malformed, "the answer has no head"))
            }
            return .success(HTTPAnswer(head: head, body: state.body))
        }
    }
}
