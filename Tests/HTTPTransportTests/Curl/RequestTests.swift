import HTTPTransport
import Locking
import Logging
import Testing

/// What goes over the wire.
@Suite struct RequestTests {
    /// Sends `request` to a server that answers 200, and returns what the server saw.
    private func seen(_ make: (RawServer) -> HTTPRequest) async throws -> RawRequest {

        let box = Box(Lock<RawRequest?>(nil))
        let server = RawServer { connection in
            while let request = connection.readRequest() {
                box.value.withLock { $0 = request }
                connection.answer()
            }
        }
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        defer { transport.shutDown() }
        let answer = try await transport.answer(to: make(server), bodyLimit: 0)
        #expect(answer.status == 200)
        return try #require(box.value.withLock { $0 })
    }

    @Test func urlIsSentAsItStands() async throws {
        let path = "/b/x/o/a%2Fb%20c/../d//e/./f?alt=media&x=%2f~'"
        let request = try await seen { HTTPRequest(.get, $0.url(path)) }
        #expect(request.line == "GET \(path) HTTP/1.1")
    }

    @Test func headersKeepOrderSpellingAndEmptyValues() async throws {
        let request = try await seen {
            HTTPRequest(.get, $0.url(), headers: [("X-Second", "2"), ("x-First", "1"), ("X-Empty", "")])
        }
        let ours = request.headerLines.filter { $0.lowercased().hasPrefix("x-") }
        #expect(ours == ["X-Second: 2", "x-First: 1", "X-Empty:"])
        #expect(request.value("User-Agent") == "Firemount/0.1")
        #expect(request.value("Accept-Encoding") == nil)
    }

    @Test(arguments: [HTTPRequest.Method.get, .head, .delete])
    func methodWithoutBodySendsNoBody(method: HTTPRequest.Method) async throws {
        let request = try await seen { HTTPRequest(method, $0.url()) }
        #expect(request.line == "\(method.rawValue) / HTTP/1.1")
        #expect(request.value("Content-Length") == nil)
        #expect(request.value("Transfer-Encoding") == nil)
        #expect(request.value("Content-Type") == nil)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch])
    func emptyBodyIsAnnounced(method: HTTPRequest.Method) async throws {
        let request = try await seen { HTTPRequest(method, $0.url()) }
        #expect(request.line == "\(method.rawValue) / HTTP/1.1")
        #expect(request.value("Content-Length") == "0")
        #expect(request.value("Content-Type") == nil)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch, .delete], [0, 1, 65_536, 65_537, 3_000_000])
    func bytesArriveWhole(method: HTTPRequest.Method, count: Int) async throws {
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let request = try await seen {
            HTTPRequest(method, $0.url(), headers: [("Content-Type", "application/json")], body: .bytes(body))
        }
        #expect(request.line == "\(method.rawValue) / HTTP/1.1")
        #expect(request.value("Content-Length") == "\(count)")
        #expect(request.value("Content-Type") == "application/json")
        #expect(request.value("Expect") == nil)
        #expect(request.body == body)
    }

    @Test(arguments: [0, 1, 700_000, 5_000_000] as [Int64])
    func streamArrivesWhole(length: Int64) async throws {
        let request = try await seen {
            HTTPRequest(.put, $0.url(), body: .stream(CountingSource(pieceSize: 70_001), length: length))
        }
        #expect(request.value("Content-Length") == "\(length)")
        #expect(request.value("Expect") == nil)
        #expect(request.body.count == Int(length))
        #expect(request.body == (0..<length).map { CountingSource.byte(at: $0) })
    }
}

/// Shares a lock with a closure.
final class Box<Value>: Sendable {
    let value: Lock<Value>
    init(_ value: consuming Lock<Value>) { self.value = value }
}

/// A body whose every byte tells its offset.
struct CountingSource: HTTPBodySource {
    var pieceSize = Int.max

    static func byte(at offset: Int64) -> UInt8 { UInt8(truncatingIfNeeded: (offset &* 2_654_435_761) >> 7) }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, pieceSize)
        for index in 0..<count { unsafe buffer[index] = Self.byte(at: offset + Int64(index)) }
        return count
    }
}
