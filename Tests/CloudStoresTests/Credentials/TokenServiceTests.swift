import HTTPTransport
import ObjectStore
import Testing

@testable import CloudStores

/// When a token is asked for again, and what failures are called.
@Suite struct TokenServiceTests {
    private func failure(_ endpoint: TokenEndpoint, _ clock: TestClock = TestClock()) async -> StorageError? {
        do throws(StorageError) {
            _ = try await TokenService(endpoint, clock).token(posting: [], to: "https://oauth2.example/token")
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            .json(408, ""), .json(429, ""), .json(500, "<html>"), .json(503, #"{"error":"unavailable"}"#),
            .json(400, #"{"error":"internal_failure"}"#), .json(403, #"{"error":"server_error"}"#),
            .json(400, #"{"error":"temporarily_unavailable"}"#),
            .failure(.notConnected), .failure(.connectionLost), .failure(.unresolved),
        ] as [TokenEndpoint.Answer])
    func transientFailureIsTriedThreeTimes(answer: TokenEndpoint.Answer) async {
        let clock = TestClock()
        let endpoint = TokenEndpoint { _, _ in answer }
        #expect(await failure(endpoint, clock)?.kind == .unreachable)
        #expect(endpoint.requests.count == 3)
        #expect(clock.slept.count == 2)
        #expect((0.9...1.1).contains(clock.slept[0] / .seconds(1)))
        #expect((1.8...2.2).contains(clock.slept[1] / .seconds(1)))
    }

    @Test func transientFailureIsForgottenWhenATokenComes() async {
        let endpoint = TokenEndpoint([.json(503, ""), .failure(.connectionLost), .token("t")])
        #expect(await failure(endpoint) == nil)
    }

    @Test func finalFailureIsNotTriedAgainAndTellsTheServersWords() async {
        let body = #"{"error":"invalid_grant","error_description":"Token has been expired\nor revoked."}"#
        let endpoint = TokenEndpoint { _, _ in .json(400, body) }
        let error = await failure(endpoint)
        #expect(error?.kind == .unauthenticated)
        #expect(error?.httpStatus == 400)
        #expect(error?.message == "invalid_grant: Token has been expired or revoked.")
        #expect(endpoint.requests.count == 1)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"access_token":""}"#, #"{"access_token":5}"#, #"{"access_token":"a b"}"#,
        #"{"access_token":"a\r\nX: y"}"#,
    ])
    func answerWithoutUsableTokenIsMalformed(body: String) async {
        #expect(await failure(TokenEndpoint { _, _ in .json(200, body) })?.kind == .malformedAnswer)
    }

    @Test func silenceIsNotWaitedForTwice() async {
        let endpoint = TokenEndpoint { _, _ in .failure(.timedOut) }
        #expect(await failure(endpoint)?.kind == .timedOut)
        #expect(endpoint.requests.count == 1)
    }

    @Test func allTriesTogetherFitIntoTheirTime() async {
        let clock = TestClock()
        let endpoint = TokenEndpoint { request, _ in
            clock.advance(by: .seconds(6))
            return .failure(.notConnected)
        }
        #expect(await failure(endpoint, clock)?.kind == .unreachable)
        #expect(endpoint.requests.count == 2)
        #expect(endpoint.requests.allSatisfy { $0.deadline.map { $0 <= TokenService.patience } ?? false })
    }

    @Test func lifetimeMayBeAString() {
        let fields = JSONFields(Array(#"{"access_token":"t","expires_in":"3599"}"#.utf8))
        #expect(fields.flatMap { AccessToken($0) }?.lifetime == .seconds(3_599))
    }
}
