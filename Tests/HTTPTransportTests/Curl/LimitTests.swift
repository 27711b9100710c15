import Glibc
import HTTPTransport
import Locking
import Logging
import Testing

/// How long a request may take.
@Suite struct LimitTests {
    private func record(
        of request: HTTPRequest, configuration: CurlTransport.Configuration = .init()
    ) async -> (Recorder.Record, Duration) {
        let transport = CurlTransport(configuration: configuration, log: .silent)
        defer { transport.shutDown() }
        let recorder = Recorder()
        let start = ContinuousClock.now
        transport.send(request, to: recorder)
        let record = await recorder.finished()
        // Taken on the transport's thread: this task may have to wait for others.
        return (record, start.duration(to: record.end ?? .now))
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"])
    func silenceBeyondTheStallLimitTimesOut(beginning: String) async {
        let server = RawServer { connection in
            _ = connection.readRequest()
            connection.send(beginning)
            _ = connection.read(1)
        }
        defer { server.close() }
        let request = HTTPRequest(.get, server.url(), stallLimit: .milliseconds(300))
        let (record, time) = await record(of: request)
        #expect(record.kind == .timedOut)
        #expect(time >= .milliseconds(295) && time < .seconds(5))
    }

    @Test func slowButMovingAnswerIsNoStall() async {
        let server = RawServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 24000\r\n\r\n")
            for _ in 0..<12 {
                usleep(100_000)
                connection.send(String(repeating: "x", count: 2_000))
            }
        }
        defer { server.close() }
        let (record, _) = await record(of: HTTPRequest(.get, server.url(), stallLimit: .milliseconds(900)))
        #expect(record.kind == nil)
        #expect(record.body.count == 24_000)
    }

    /// Answers with twenty bytes a second, and many of them.
    private func trickle() -> RawServer {
        RawServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            for _ in 0..<200 {
                usleep(50_000)
                connection.send("x")
            }
        }
    }

    @Test func anAnswerThatTricklesTimesOut() async {
        let server = trickle()
        defer { server.close() }
        let (record, time) = await record(of: HTTPRequest(.get, server.url(), stallLimit: .milliseconds(400)))
        #expect(record.kind == .timedOut)
        #expect(time >= .milliseconds(395) && time < .seconds(5))
    }

    @Test func slowlyTakenUploadIsNoStall() async {
        let server = RawServer { connection in
            guard connection.readHead() != nil else { return }
            // More than the sockets' buffers hold, in sips.
            for _ in 0..<40 {
                usleep(50_000)
                _ = connection.read(1_000_000)
            }
            connection.answer()
        }
        defer { server.close() }
        let body = HTTPBody.stream(CountingSource(), length: 40_000_000)
        let request = HTTPRequest(.put, server.url(), body: body, stallLimit: .milliseconds(900))
        let (record, time) = await record(of: request)
        #expect(record.kind == nil)
        #expect(time > .seconds(1))
    }

    @Test func uploadThatNobodyTakesStalls() async {
        let server = RawServer { connection in
            _ = connection.readHead()
            // Keeps the connection and reads no more, until the client has long given up.
            sleep(10)
        }
        defer { server.close() }
        let body = HTTPBody.stream(CountingSource(), length: 80_000_000)
        let request = HTTPRequest(.put, server.url(), body: body, stallLimit: .milliseconds(400))
        let (record, time) = await record(of: request)
        #expect(record.kind == .timedOut)
        #expect(time < .seconds(5))
    }

    @Test func deadlineHoldsWhateverMoves() async {
        let server = trickle()
        defer { server.close() }
        let (record, time) = await record(of: HTTPRequest(.get, server.url(), deadline: .milliseconds(400)))
        #expect(record.kind == .timedOut)
        #expect(time >= .milliseconds(395) && time < .seconds(5))
    }

    @Test func connectionNotMadeInTimeIsSafeToSendAgain() async throws {
        let full = FullListener()
        var configuration = CurlTransport.Configuration()
        configuration.connectLimit = .milliseconds(300)
        let request = HTTPRequest(.get, "http://127.0.0.1:\(full.port)/?secret=1")
        let (record, time) = await record(of: request, configuration: configuration)
        #expect(record.kind == .notConnected)
        #expect(time >= .milliseconds(295) && time < .seconds(5))
    }

    @Test func waitingForAFreeConnectionIsNoStall() async {
        let server = RawServer { connection in
            while connection.readRequest() != nil {
                usleep(400_000)
                connection.answer()
            }
        }
        defer { server.close() }
        var configuration = CurlTransport.Configuration()
        configuration.maxConnectionsPerHost = 1
        let transport = CurlTransport(configuration: configuration, log: .silent)
        defer { transport.shutDown() }
        let recorders = (0..<7).map { _ in Recorder() }
        for recorder in recorders {
            transport.send(HTTPRequest(.get, server.url(), stallLimit: .seconds(2)), to: recorder)
        }
        for recorder in recorders { #expect(await recorder.finished().kind == nil) }
        #expect(server.connectionCount == 1)
    }
}

/// A listener whose queue is full: connections to it are neither made nor refused.
@safe
final class FullListener {
    let port: UInt16
    private let sockets: [Int32]

    init() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let listener = socket(AF_INET, kind, 0)
        let callers = (0..<4).map { _ in socket(AF_INET, kind, 0) }
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                precondition(unsafe bind(listener, pointer, size) == 0 && listen(listener, 0) == 0)
                precondition(unsafe getsockname(listener, pointer, &size) == 0)
                for caller in callers { _ = unsafe connect(caller, pointer, size) }
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        sockets = [listener] + callers
    }

    deinit { for socket in sockets { close(socket) } }
}
