import HTTPTransport
import Locking
import Logging

@testable import CloudStores

/// Plays a token service: answers what the test says, and remembers what it was asked.
final class TokenEndpoint: HTTPTransport {
    enum Answer: Sendable {
        case json(Int, String, headers: [(name: String, value: String)] = [])
        case failure(TransportError.Kind)

        static func token(_ value: String, lifetime: Int = 3_600) -> Answer {
            .json(200, #"{"access_token":"\#(value)","expires_in":\#(lifetime),"token_type":"Bearer"}"#)
        }
    }

    private struct State {
        var requests: [HTTPRequest] = []
        var isHolding = false
        var held: [@Sendable () -> Void] = []
    }

    private struct Nothing: HTTPTransfer { func cancel() {} }

    private let state = Lock(State())
    private let answer: @Sendable (HTTPRequest, Int) -> Answer

    /// - Parameter answer: gets the request and its number, from 0.
    init(_ answer: @escaping @Sendable (HTTPRequest, Int) -> Answer) { self.answer = answer }

    convenience init(_ answers: [Answer]) {
        self.init { _, number in number < answers.count ? answers[number] : .failure(.notConnected) }
    }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// Keeps answers back until `release`.
    func hold() { state.withLock { $0.isHolding = true } }

    func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for answer in held { answer() }
    }

    func send(_ request: HTTPRequest, to handler: any HTTPResponseHandler) -> any HTTPTransfer {
        let number = state.withLock { state in
            state.requests.append(request)
            return state.requests.count - 1
        }
        let play: @Sendable () -> Void = { [answer] in Self.play(answer(request, number), to: handler) }
        let isHeld = state.withLock { state in
            if state.isHolding { state.held.append(play) }
            return state.isHolding
        }
        if !isHeld { play() }
        return Nothing()
    }

    private static func play(_ answer: Answer, to handler: any HTTPResponseHandler) {
        switch answer {
        case .failure(let kind): handler.completed(.failure(TransportError(kind, "played failure")))
        case .json(let status, let body, let headers):
            _ = handler.received(head: HTTPResponseHead(status: status, headers: headers))
            _ = unsafe Array(body.utf8).withUnsafeBytes { unsafe handler.received(bytes: $0) }
            handler.completed(.success(()))
        }
    }
}

extension HTTPRequest {
    /// The body as text.
    var text: String {
        guard case .bytes(let bytes) = body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A clock that only moves when told; sleeping moves it.
final class TestClock: Sendable {
    private let start = ContinuousClock.now
    private let elapsed = Lock(Duration.zero)
    private let naps = Lock<[Duration]>([])

    var slept: [Duration] { naps.withLock { $0 } }

    func advance(by duration: Duration) { elapsed.withLock { $0 += duration } }

    var clock: CredentialClock {
        CredentialClock(
            now: { self.start.advanced(by: self.elapsed.withLock { $0 }) },
            unixTime: { 1_700_000_000 + self.elapsed.withLock { $0 }.components.seconds },
            sleep: { duration in
                self.naps.withLock { $0.append(duration) }
                self.advance(by: duration)
            })
    }
}

extension TokenService {
    init(_ endpoint: TokenEndpoint, _ clock: TestClock = TestClock()) {
        self.init(transport: endpoint, log: .silent, clock: clock.clock)
    }
}
