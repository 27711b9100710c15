import Glibc
import HTTPTransport
import Locking
import Logging
import Testing

/// Connections: kept, lost, refused.
@Suite struct ConnectionTests {
    @Test func connectionIsKeptForTheNextRequest() async throws {
        let server = RawServer { connection in
            while connection.readRequest() != nil { connection.answer() }
        }
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        for _ in 0..<5 { _ = try await transport.answer(to: HTTPRequest(.get, server.url()), bodyLimit: 0) }
        #expect(server.connectionCount == 1)
    }

    @Test func connectionsStayWithinTheirLimit() async throws {
        let server = RawServer { connection in
            while connection.readRequest() != nil {
                usleep(20_000)
                connection.answer()
            }
        }
        defer { server.close() }
        var configuration = CurlTransport.Configuration()
        configuration.maxConnectionsPerHost = 3
        let transport = CurlTransport(configuration: configuration, log: .silent)
        let recorders = (0..<12).map { _ in Recorder() }
        for recorder in recorders { transport.send(HTTPRequest(.get, server.url()), to: recorder) }
        for recorder in recorders { #expect(await recorder.finished().kind == nil) }
        #expect(server.connectionCount == 3)
    }

    /// How a server may let go of a kept connection: at once, only when the next request comes, or with a reset then.
    enum Goodbye: CaseIterable { case atOnce, atNextHead, atNextHeadByReset }

    @Test(arguments: Goodbye.allCases, [HTTPBody.none, .bytes([1, 2, 3]), .stream(CountingSource(), length: 300_000)])
    func requestOnADeadKeptConnectionIsSentOnANewOne(goodbye: Goodbye, body: HTTPBody) async throws {
        let server = RawServer { connection in
            guard let first = connection.readRequest() else { return }
            connection.answer("\(first.body.count)")
            if goodbye == .atOnce { return }
            guard let head = connection.readHead() else { return }
            // Only the second request on the first connection meets the dead end.
            if head.contains("/again") && goodbye == .atNextHeadByReset { connection.reset() }
        }
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        _ = try await transport.answer(to: HTTPRequest(.get, server.url()), bodyLimit: 100)
        if goodbye == .atOnce { usleep(50_000) }
        let again = HTTPRequest(body.isNone ? .get : .put, server.url("/again"), body: body)
        let answer = try await transport.answer(to: again, bodyLimit: 100)
        #expect(String(decoding: answer.body, as: UTF8.self) == "\(body.length)")
        #expect(server.connectionCount == 2)
        // A connection that was closed in time is not even tried.
        #expect(answer.head.answersSecondTry == (goodbye != .atOnce))
    }

    @Test func refusedConnectionIsSafeToSendAgain() async {
        let gone = RawServer { _ in }
        gone.close()
        usleep(50_000)
        let error = await failure(HTTPRequest(.put, gone.url("/?secret=1"), body: .bytes([1])))
        #expect(error?.kind == .notConnected)
        #expect(error?.message.contains("Connection refused") == true)
        #expect(error?.message.contains("127.0.0.1:\(gone.port)") == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func hostWithoutAddressIsUnresolved() async {
        let error = await failure(HTTPRequest(.get, "http://no-such-host.invalid/?secret=1"))
        #expect(error?.kind == .unresolved)
        #expect(error?.message.contains("secret") == false)
    }

    @Test(arguments: [
        "file:///etc/hostname", "ftp://127.0.0.1/", "http://", "nonsense", "http://user:secret@127.0.0.1/",
    ])
    func whatIsNoPlainHTTPAddressIsRefused(url: String) async {
        let error = await failure(HTTPRequest(.get, url))
        #expect(error != nil)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func plainServerOnASecureAddressIsInsecure() async {
        let server = RawServer { connection in
            connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
            _ = connection.read(1)
        }
        defer { server.close() }
        let error = await failure(HTTPRequest(.get, "https://127.0.0.1:\(server.port)/"))
        #expect(error?.kind == .insecure, "\(String(describing: error))")
    }

    @Test func handshakeThatBreaksOffIsSafeToSendAgain() async {
        let server = RawServer { connection in _ = connection.read(1) }
        defer { server.close() }
        #expect(await failure(HTTPRequest(.get, "https://127.0.0.1:\(server.port)/"))?.kind == .notConnected)
    }

    private func failure(_ request: HTTPRequest) async -> TransportError? {
        let transport = CurlTransport(log: .silent)
        do throws(TransportError) {
            _ = try await transport.answer(to: request, bodyLimit: 100)
            return nil
        } catch {
            return error
        }
    }
}

extension HTTPBody {
    var isNone: Bool { if case .none = self { true } else { false } }

    var length: Int64 {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .stream(_, let length): length
        }
    }
}
