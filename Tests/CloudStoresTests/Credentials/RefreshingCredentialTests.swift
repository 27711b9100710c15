import HTTPTransport
import ObjectStore
import Testing

@testable import CloudStores

@Suite struct RefreshingCredentialTests {
    private struct Issuer: TokenIssuer {
        func token(by service: TokenService) async throws(StorageError) -> AccessToken {
            try await service.token(posting: [], to: "https://oauth2.example/token")
        }
    }

    private let clock = TestClock()

    private func credential(_ endpoint: TokenEndpoint) -> RefreshingCredential {
        RefreshingCredential(of: Issuer(), TokenService(endpoint, clock), quotaProject: "billing")
    }

    private static func numbered(lifetime: Int = 3_600) -> TokenEndpoint {
        TokenEndpoint { _, number in .token("t\(number)", lifetime: lifetime) }
    }

    @Test func tokenIsFetchedOnceAndKept() async throws {
        let endpoint = Self.numbered()
        let credential = credential(endpoint)
        #expect(credential.cachedAuthorization() == nil)
        let authorization = try await credential.authorization(replacing: nil)
        #expect(authorization == Authorization(value: "Bearer t0", quotaProject: "billing"))
        #expect(credential.cachedAuthorization() == authorization)
        #expect(try await credential.authorization(replacing: nil) == authorization)
        #expect(endpoint.requests.count == 1)
    }

    @Test func tokenIsReplacedWhenLittleTimeIsLeft() async throws {
        let endpoint = Self.numbered()
        let credential = credential(endpoint)
        _ = try await credential.authorization(replacing: nil)
        clock.advance(by: .seconds(3_600 - 226))
        #expect(credential.cachedAuthorization() != nil)
        clock.advance(by: .seconds(2))
        #expect(credential.cachedAuthorization() == nil)
        #expect(try await credential.authorization(replacing: nil).value == "Bearer t1")
    }

    @Test func shortLivedTokenIsUsedForHalfItsLife() async throws {
        let credential = credential(Self.numbered(lifetime: 100))
        _ = try await credential.authorization(replacing: nil)
        clock.advance(by: .seconds(49))
        #expect(credential.cachedAuthorization() != nil)
        clock.advance(by: .seconds(2))
        #expect(credential.cachedAuthorization() == nil)
    }

    @Test func rejectedTokenIsReplacedOnce() async throws {
        let endpoint = Self.numbered()
        let credential = credential(endpoint)
        let first = try await credential.authorization(replacing: nil)
        let second = try await credential.authorization(replacing: first)
        #expect(second.value == "Bearer t1")
        // Someone else, late, with the same complaint.
        #expect(try await credential.authorization(replacing: first) == second)
        #expect(endpoint.requests.count == 2)
    }

    @Test func allWhoWaitShareOneRefresh() async throws {
        let endpoint = Self.numbered()
        endpoint.hold()
        let credential = credential(endpoint)
        let waiters = (0..<20).map { _ in Task { try await credential.authorization(replacing: nil).value } }
        while endpoint.requests.isEmpty { await Task.yield() }
        endpoint.release()
        for waiter in waiters { #expect(try await waiter.value == "Bearer t0") }
        #expect(endpoint.requests.count == 1)
    }

    @Test func cancelledWaiterLeavesAndTheOthersStay() async throws {
        let endpoint = Self.numbered()
        endpoint.hold()
        let credential = credential(endpoint)
        let first = Task { try await credential.authorization(replacing: nil).value }
        while endpoint.requests.isEmpty { await Task.yield() }
        let second = Task { try await credential.authorization(replacing: nil).value }
        first.cancel()
        let error = await #expect(throws: StorageError.self) { try await first.value }
        #expect(error?.kind == .cancelled)
        endpoint.release()
        #expect(try await second.value == "Bearer t0")
    }

    @Test func oldTokenServesWhileNobodyCanBeAsked() async throws {
        let endpoint = TokenEndpoint { _, number in number == 0 ? .token("t0") : .failure(.timedOut) }
        let credential = credential(endpoint)
        let first = try await credential.authorization(replacing: nil)
        clock.advance(by: .seconds(3_500))
        #expect(try await credential.authorization(replacing: nil) == first)
        clock.advance(by: .seconds(101))
        let error = await #expect(throws: StorageError.self) { try await credential.authorization(replacing: nil) }
        #expect(error?.kind == .timedOut)
    }

    @Test func rejectedTokenDoesNotServeWhileNobodyCanBeAsked() async throws {
        let endpoint = TokenEndpoint { _, number in number == 0 ? .token("t0") : .failure(.timedOut) }
        let credential = credential(endpoint)
        let first = try await credential.authorization(replacing: nil)
        let error = await #expect(throws: StorageError.self) { try await credential.authorization(replacing: first) }
        #expect(error?.kind == .timedOut)
    }

    @Test func failureIsNotRemembered() async throws {
        let endpoint = TokenEndpoint { _, number in
            number == 0 ? .json(400, #"{"error":"invalid_grant"}"#) : .token("t")
        }
        let credential = credential(endpoint)
        let error = await #expect(throws: StorageError.self) { try await credential.authorization(replacing: nil) }
        #expect(error?.kind == .unauthenticated)
        #expect(try await credential.authorization(replacing: nil).value == "Bearer t")
    }
}
