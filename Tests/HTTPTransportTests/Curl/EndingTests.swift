import Glibc
import HTTPTransport
import Locking
import Logging
import TestSupport
import Testing

/// Every request ends once, however it ends.
@Suite struct EndingTests {
    /// Answers nothing, and keeps the connection until the client lets go.
    private static func silentServer() -> RawServer {
        RawServer { connection in
            _ = connection.readRequest()
            _ = connection.read(1)
        }
    }

    private static func endlessServer() -> RawServer {
        RawServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            connection.send([UInt8](repeating: 7, count: 100_000_000))
        }
    }

    @Test func cancelEndsARequestThatWaits() async {
        let server = Self.silentServer()
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        let recorder = Recorder()
        let transfer = transport.send(HTTPRequest(.get, server.url()), to: recorder)
        usleep(50_000)
        transfer.cancel()
        transfer.cancel()
        #expect(await recorder.finished().kind == .cancelled)
        transfer.cancel()
        transport.shutDown()
        #expect(recorder.record.results.count == 1)
    }

    @Test func cancelRightAfterSendEndsTheRequest() async {
        let server = Self.silentServer()
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        for _ in 0..<50 {
            let recorder = Recorder()
            transport.send(HTTPRequest(.get, server.url()), to: recorder).cancel()
            #expect(await recorder.finished().kind == .cancelled)
        }
    }

    @Test func cancelledTaskCancelsItsAnswer() async {
        let server = Self.silentServer()
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        let url = server.url()
        let task = Task { () -> TransportError.Kind? in
            do throws(TransportError) {
                _ = try await transport.answer(to: HTTPRequest(.get, url), bodyLimit: 0)
                return nil
            } catch {
                return error.kind
            }
        }
        usleep(50_000)
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func handlerMayStopAtTheHead() async {
        let server = Self.endlessServer()
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        let recorder = Recorder(takesHead: { _ in false })
        transport.send(HTTPRequest(.get, server.url()), to: recorder)
        let record = await recorder.finished()
        #expect(record.kind == .cancelled)
        #expect(record.body.isEmpty)
    }

    @Test func handlerMayStopInTheBody() async {
        let server = Self.endlessServer()
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        let recorder = Recorder(takesBytes: { $0 < 1_000_000 })
        transport.send(HTTPRequest(.get, server.url()), to: recorder)
        let record = await recorder.finished()
        #expect(record.kind == .cancelled)
        #expect(record.body.count < 2_000_000)
    }

    @Test func bodySourceThatFailsEndsTheRequest() async {
        struct Broken: Error, CustomStringConvertible { var description: String { "disk on fire" } }
        struct BrokenSource: HTTPBodySource {
            let end: Int64
            let failure: Broken?
            func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
                if offset < end { return min(buffer.count, Int(end - offset)) }
                if let failure { throw failure }
                return 0
            }
        }
        let server = Self.silentServer()
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        for failure in [Broken(), nil] {
            let recorder = Recorder()
            let body = HTTPBody.stream(BrokenSource(end: 100_000, failure: failure), length: 200_000)
            transport.send(HTTPRequest(.put, server.url(), body: body), to: recorder)
            #expect(await recorder.finished().kind == .bodySource)
        }
    }

    @Test func shutDownEndsEveryRequestOnce() async {
        let server = Self.silentServer()
        defer { server.close() }
        var configuration = CurlTransport.Configuration()
        configuration.maxConnectionsPerHost = 8
        let transport = CurlTransport(configuration: configuration, log: .silent)
        let recorders = (0..<40).map { _ in Recorder() }
        for recorder in recorders { transport.send(HTTPRequest(.get, server.url()), to: recorder) }
        transport.shutDown()
        for recorder in recorders { #expect(recorder.record.results.count == 1) }
        for recorder in recorders { #expect(recorder.record.kind == .cancelled) }
        let late = Recorder()
        transport.send(HTTPRequest(.get, server.url()), to: late)
        #expect(late.record.kind == .cancelled)
    }

    @Test func transportThatNobodyHoldsShutsDown() async {
        let server = Self.silentServer()
        defer { server.close() }
        let recorder = Recorder()
        var transport: CurlTransport? = CurlTransport(log: .silent)
        transport?.send(HTTPRequest(.get, server.url()), to: recorder)
        transport = nil
        #expect(recorder.record.kind == .cancelled)
    }

    @Test func handlerMaySendAgainAndShutDownFromItsCompletion() async throws {
        let server = RawServer { connection in
            while connection.readRequest() != nil { connection.answer() }
        }
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        let last = Recorder()
        transport.send(HTTPRequest(.get, server.url()), to: Chain(transport, server.url(), then: last))
        #expect(await last.finished().kind == nil)
        #expect(server.connectionCount == 1)
    }

    /// Manifold requests with cancels from another thread: nothing is lost, nothing told twice.
    @Test(arguments: UInt64(0)..<4)
    func everyOneOfManyEndsOnce(seed: UInt64) async {
        let server = RawServer { connection in
            while let request = connection.readRequest() { connection.answer(request.line) }
        }
        defer { server.close() }
        var configuration = CurlTransport.Configuration()
        configuration.maxConnectionsPerHost = 16
        let transport = CurlTransport(configuration: configuration, log: .silent)
        var random = SplitMix64(seed: seed)
        let recorders = (0..<400).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() {
            let transfer = transport.send(HTTPRequest(.get, server.url("/\(number)")), to: recorder)
            if random.next() % 3 == 0 { transfer.cancel() }
        }
        for (number, recorder) in recorders.enumerated() {
            let record = await recorder.finished()
            if record.kind == nil { #expect(record.text == "GET /\(number) HTTP/1.1") }
        }
        transport.shutDown()
        for recorder in recorders { #expect(recorder.record.results.count == 1) }
    }
}

/// Sends a second request from the completion of the first, and drops its transport there.
private final class Chain: HTTPResponseHandler {
    private let transport: Lock<CurlTransport?>
    private let url: String
    private let next: Recorder

    init(_ transport: CurlTransport, _ url: String, then next: Recorder) {
        self.transport = Lock(transport)
        self.url = url
        self.next = next
    }

    func received(head: HTTPResponseHead) -> Bool { true }
    func received(bytes: UnsafeRawBufferPointer) -> Bool { true }
    func completed(_ result: Result<Void, TransportError>) {
        let transport = transport.withLock { transport in
            defer { transport = nil }
            return transport
        }
        transport?.send(HTTPRequest(.get, url), to: next)
    }
}
