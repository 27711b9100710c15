import HTTPTransport
import Logging
import Testing

/// Whom we believe.
@Suite struct SecurityTests {
    private func answer(_ server: TLSServer, trusts: Bool) async throws(TransportError) -> HTTPAnswer {
        var configuration = CurlTransport.Configuration()
        if trusts { configuration.certificateAuthorities = server.certificate }
        let transport = CurlTransport(configuration: configuration, log: .silent)
        return try await transport.answer(to: HTTPRequest(.get, server.url), bodyLimit: 1 << 20)
    }

    @Test func certificateOfATrustedAuthorityIsBelieved() async throws {
        let server = try TLSServer()
        #expect(try await answer(server, trusts: true).status == 200)
    }

    @Test func certificateOfAnUnknownAuthorityIsRefused() async throws {
        let server = try TLSServer()
        let error = await #expect(throws: TransportError.self) { try await answer(server, trusts: false) }
        #expect(error?.kind == .insecure)
    }

    @Test func certificateForAnotherHostIsRefused() async throws {
        let server = try TLSServer(name: "192.0.2.1")
        let error = await #expect(throws: TransportError.self) { try await answer(server, trusts: true) }
        #expect(error?.kind == .insecure)
    }

    @Test func nextConnectionResumesTheSession() async throws {
        let server = try TLSServer()
        var configuration = CurlTransport.Configuration()
        configuration.certificateAuthorities = server.certificate
        let transport = CurlTransport(configuration: configuration, log: .silent)
        var pages: [String] = []
        for _ in 0..<2 {
            // The server closes after each answer, and its page tells how the session came about.
            let answer = try await transport.answer(to: HTTPRequest(.get, server.url), bodyLimit: 1 << 20)
            pages.append(String(decoding: answer.body, as: UTF8.self))
        }
        #expect(pages[0].contains("New, TLS"))
        #expect(pages[1].contains("Reused, TLS"))
    }
}
