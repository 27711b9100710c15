import HTTPTransport
import Locking
import Logging
import Testing

/// Credentials do not travel in the clear.
@Suite struct CredentialGuardTests {
    private func kind(_ url: String, header: String = "Authorization") async -> TransportError.Kind? {
        let transport = CurlTransport(log: .silent)
        let request = HTTPRequest(.get, url, headers: [(header, "Bearer secret")])
        do throws(TransportError) {
            _ = try await transport.answer(to: request, bodyLimit: 0)
            return nil
        } catch {
            #expect(!error.message.contains("secret"))
            return error.kind
        }
    }

    @Test(arguments: [
        "http://storage.invalid/", "HTTP://storage.invalid/", "http://192.0.2.1/", "http://localhost.invalid/",
        "http://127.0.0.1.invalid/", "http://[::2]/", "http://128.0.0.1/", "http://127.0.0.1@192.0.2.1/",
        "http://192.0.2.1/@127.0.0.1/", "http://192.0.2.1#@127.0.0.1/", "http:///192.0.2.1/", "http:192.0.2.1/",
    ])
    func plainHTTPBeyondLoopbackIsRefused(url: String) async {
        #expect(await kind(url) == .credentialsOverPlainHTTP)
        #expect(await kind(url, header: "AUTHORIZATION") == .credentialsOverPlainHTTP)
    }

    @Test(arguments: ["localhost", "LocalHost", "127.0.0.1", "127.1", "[::1]"])
    func loopbackMayBePlain(host: String) async {
        let server = RawServer { connection in
            while connection.readRequest() != nil { connection.answer() }
        }
        defer { server.close() }
        let kind = await kind("http://\(host):\(server.port)/")
        // The server has no IPv6 address: being refused by the network is enough.
        #expect(kind == (host == "[::1]" ? .notConnected : nil))
    }

    @Test func requestWithoutCredentialsMayBePlain() async {
        #expect(await kind("http://storage.invalid/", header: "X-Other") == .unresolved)
    }

    @Test(arguments: ["a\r\nAuthorization: Bearer x", "a\nb", "a\0b"])
    func headerThatWouldBecomeTwoIsRefused(value: String) async {
        let recorder = Recorder()
        let transport = CurlTransport(log: .silent)
        transport.send(HTTPRequest(.get, "http://storage.invalid/", headers: [("X-A", value)]), to: recorder)
        #expect(await recorder.finished().kind == .malformed)
    }
}
