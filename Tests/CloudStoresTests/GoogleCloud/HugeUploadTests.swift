import HTTPTransport
import Locking
import ObjectStore
import TestSupport
import Testing

@testable import CloudStores

/// Ten gigabytes over a connection that keeps breaking, against a server that keeps nothing but the count.
struct HugeUploadTests {
    @Test(arguments: [false, true])
    func tenGigabytesSurviveTwentyLostConnections(grows: Bool) async throws {
        let size: Int64 = 10 << 30
        let server = CountingServer(size: size, breaks: 20)
        var configuration = GoogleCloudStore.Configuration()
        configuration.streamChunkSize = 512 << 20
        let store = GoogleCloudStore(
            bucket: "demo", endpoint: try ServiceEndpoint(parsing: "http://127.0.0.1:1"), transport: server,
            credentials: FixedCredentials(.anonymous), configuration: configuration, clock: PauseClock().retryClock,
            log: .silent)
        let source = Zeros(size: size)
        let upload = Upload(
            name: ObjectName("huge"), headers: ObjectHeaders(), precondition: .mustNotExist, source: source,
            growth: grows ? source : nil)
        let object = try await store.insert(upload)
        #expect(object.size == size)
        #expect(server.breaksLeft == 0)
        #expect(server.received < size + size / 20, "\(server.received - size) bytes were sent twice")
    }
}

/// Takes what it is sent, looks at the offsets, forgets the bytes; breaks the connection so often, each time losing
/// what was on its way.
private final class CountingServer: HTTPTransport {
    private struct State {
        var stored: Int64 = 0
        var received: Int64 = 0
        var breaksLeft: Int
    }

    private let size: Int64
    private let breakEvery: Int64
    private let state: Lock<State>
    private let thread = TimedQueue()
    /// What a connection has in flight.
    private static let inFlight: Int64 = 4 << 20

    init(size: Int64, breaks: Int) {
        self.size = size
        breakEvery = size / Int64(breaks + 1)
        state = Lock(State(breaksLeft: breaks))
    }

    var received: Int64 { state.withLock { $0.received } }
    var breaksLeft: Int { state.withLock { $0.breaksLeft } }

    @discardableResult
    func send(_ request: HTTPRequest, to handler: any HTTPResponseHandler) -> any HTTPTransfer {
        thread.run { [self] in answer(request, handler) }
        return SilentTransfer(handler)
    }

    private func answer(_ request: HTTPRequest, _ handler: any HTTPResponseHandler) {
        guard let range = request.headers.first(where: { $0.name == "Content-Range" })?.value else {
            return reply(200, [("location", "http://127.0.0.1:1/session")], "", handler)
        }
        if case .stream(let source, let length) = request.body {
            let first = Int64(range.dropFirst("bytes ".count).prefix { $0.isNumber }) ?? 0
            guard take(source, first, length) else {
                return handler.completed(.failure(TransportError(.connectionLost, "broken")))
            }
        }
        let stored = state.withLock { $0.stored }
        if stored == size, !range.hasSuffix("*") {
            return reply(200, [], Self.resource(size), handler)
        }
        reply(308, stored == 0 ? [] : [("range", "bytes=0-\(stored - 1)")], "", handler)
    }

    /// False: the connection broke.
    private func take(_ source: any HTTPBodySource, _ first: Int64, _ length: Int64) -> Bool {
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        var taken: Int64 = 0
        while taken < length {
            let room = Int(min(Int64(piece.count), length - taken))
            let count =
                (try? unsafe piece.withUnsafeMutableBytes { buffer in
                    try unsafe source.read(at: taken, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]))
                }) ?? 0
            taken += Int64(count)
            let isBroken = state.withLock { state in
                precondition(first <= state.stored, "a gap")
                state.received += Int64(count)
                let position = first + taken
                let next = breakEvery * Int64(21 - state.breaksLeft)
                guard state.breaksLeft > 0, position >= next else {
                    state.stored = max(state.stored, position)
                    return false
                }
                state.breaksLeft -= 1
                state.stored = max(state.stored, position - Self.inFlight)
                return true
            }
            if isBroken { return false }
        }
        return true
    }

    private func reply(
        _ status: Int, _ headers: [(name: String, value: String)], _ text: String, _ handler: any HTTPResponseHandler
    ) {
        guard handler.received(head: HTTPResponseHead(status: status, headers: headers)) else { return }
        let body = Array(text.utf8)
        _ = unsafe body.withUnsafeBytes { bytes in unsafe handler.received(bytes: bytes) }
        handler.completed(.success(()))
    }

    private static func resource(_ size: Int64) -> String {
        #"{"name":"huge","generation":"7","metageneration":"1","size":"\#(size)","updated":"2026-01-01T00:00:00Z","#
            + #""timeCreated":"2026-01-01T00:00:00Z"}"#
    }
}

/// As a sparse file reads.
private struct Zeros: UploadSource, UploadGrowth {
    let size: Int64
    let crc32c: UInt32 = 0
    let isAwaited = true

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        min(buffer.count, Int(size - offset))
    }

    func next(beyond offset: Int64) async -> Growth {
        offset + (1 << 30) < size ? .more(to: offset + (1 << 30)) : .ended(ObjectHeaders())
    }
}
