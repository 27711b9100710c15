import HTTPTransport
import Locking
import Logging
import Testing

/// What comes back, whole or broken.
@Suite struct AnswerTests {
    /// The record of one GET, answered with exactly `bytes` before the connection closes.
    private func record(of bytes: String, resets: Bool = false) async -> Recorder.Record {
        let server = RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send(bytes)
            if resets { connection.reset() }
        }
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        defer { transport.shutDown() }
        let recorder = Recorder()
        transport.send(HTTPRequest(.get, server.url()), to: recorder)
        return await recorder.finished()
    }

    private func expectSuccess(_ record: Recorder.Record, status: Int, body: String) {
        #expect(record.kind == nil)
        #expect(record.heads.map(\.status) == [status])
        #expect(record.text == body)
        #expect(record.results.count == 1)
    }

    @Test func headersComeInOrderWithLowerCaseNames() async throws {
        let record = await record(
            of: "HTTP/1.1 200 OK\r\nX-Goog-Hash: crc32c=AAAAAA==\r\nSet-X:  a \r\nx-goog-hash:md5=B\r\n"
                + "Empty:\r\nContent-Length: 2\r\n\r\nhi")
        expectSuccess(record, status: 200, body: "hi")
        let head = try #require(record.heads.first)
        #expect(head.headers.map(\.name) == ["x-goog-hash", "set-x", "x-goog-hash", "empty", "content-length"])
        #expect(head.joined("x-goog-hash") == "crc32c=AAAAAA==,md5=B")
        #expect(head.first("set-x") == "a")
        #expect(head.first("empty") == nil)
    }

    @Test func statusIsNoError() async {
        for status in ["204 No Content", "304 Not Modified", "404 Not Found", "503 Busy"] {
            let record = await record(of: "HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")
            expectSuccess(record, status: Int(status.prefix(3))!, body: "")
        }
    }

    @Test func redirectIsReportedNotFollowed() async throws {
        let record = await record(
            of: "HTTP/1.1 308 Resume Incomplete\r\nRange: bytes=0-9\r\nLocation: http://127.0.0.1:1/\r\n"
                + "Content-Length: 0\r\n\r\n")
        expectSuccess(record, status: 308, body: "")
        #expect(record.heads.first?.first("range") == "bytes=0-9")
    }

    @Test func interimAnswersAreNotReported() async {
        let record = await record(
            of: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        expectSuccess(record, status: 200, body: "x")
        #expect(record.heads.first?.first("link") == nil)
    }

    @Test func chunkedBodyIsUnchunkedAndTrailersDropped() async {
        let record = await record(
            of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-After\r\n\r\n"
                + "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nX-After: 1\r\n\r\n")
        expectSuccess(record, status: 200, body: "abcdefg")
        #expect(record.heads.first?.first("x-after") == nil)
    }

    @Test func bodyWithoutLengthEndsWithTheConnection() async {
        expectSuccess(await record(of: "HTTP/1.0 200 OK\r\n\r\nto the end"), status: 200, body: "to the end")
    }

    @Test func encodedBodyIsNotDecoded() async {
        let record = await record(
            of: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\nas is!!")
        expectSuccess(record, status: 200, body: "as is!!")
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nfive!",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nfive!\r\n0\r\n\r\n",
    ])
    func truncatedOrGarbledBodyIsAFailure(bytes: String) async {
        let record = await record(of: bytes)
        #expect(record.kind == .connectionLost)
        #expect(record.heads.map(\.status) == [200])
        #expect(record.results.count == 1)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 100 Continue\r\n\r\n"])
    func connectionThatEndsBeforeTheHeadIsLost(bytes: String) async {
        let record = await record(of: bytes)
        #expect(record.kind == .connectionLost)
        #expect(record.heads.isEmpty)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!"])
    func resetConnectionIsLost(bytes: String) async {
        #expect(await record(of: bytes, resets: true).kind == .connectionLost)
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "<html>no head</html>\n", "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nx",
    ])
    func answerThatIsNoHTTPIsMalformed(bytes: String) async {
        #expect(await record(of: bytes).kind == .malformed)
    }

    @Test(arguments: [1, 20])
    func hugeHeadIsMalformed(lines: Int) async {
        let line = "X-Big: " + String(repeating: "a", count: 200_000 / lines) + "\r\n"
        let head = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: lines)
        let record = await record(of: head + "Content-Length: 0\r\n\r\n")
        #expect(record.kind == .malformed)
        #expect(record.heads.isEmpty)
    }

    @Test func headWithAllCustomMetadataFits() async {
        let lines = (0..<60).map { "X-Goog-Meta-\($0): " + String(repeating: "v", count: 1_000) + "\r\n" }
        let record = await record(of: "HTTP/1.1 200 OK\r\n" + lines.joined() + "Content-Length: 0\r\n\r\n")
        expectSuccess(record, status: 200, body: "")
        #expect(record.heads.first?.headers.count == 61)
    }

    @Test func answerCollectsTheBodyUpToItsLimit() async throws {
        let server = RawServer { connection in
            while connection.readRequest() != nil { connection.answer("0123456789", status: "404 Not Found") }
        }
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        let answer = try await transport.answer(to: HTTPRequest(.get, server.url()), bodyLimit: 10)
        #expect(answer.status == 404)
        #expect(answer.body == Array("0123456789".utf8))
        let error = await #expect(throws: TransportError.self) {
            try await transport.answer(to: HTTPRequest(.get, server.url()), bodyLimit: 9)
        }
        #expect(error?.kind == .malformed)
    }
}
