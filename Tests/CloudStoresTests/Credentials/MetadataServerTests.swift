import HTTPTransport
import ObjectStore
import Testing

@testable import CloudStores

@Suite struct MetadataServerTests {
    private static let flavor = (name: "metadata-flavor", value: "Google")

    private func isPresent(
        _ environment: [String: String], _ endpoint: TokenEndpoint, _ clock: TestClock = TestClock(),
        product: String = "/nonexistent"
    ) async -> Bool {
        await MetadataServer(environment).isPresent(TokenService(endpoint, clock), productName: product)
    }

    @Test func probeAsksTheAddressForItsFlavor() async throws {
        let endpoint = TokenEndpoint([.json(200, "computeMetadata/", headers: [Self.flavor])])
        #expect(await isPresent([:], endpoint))
        let request = try #require(endpoint.requests.first)
        #expect(request.url == "http://169.254.169.254")
        #expect(request.headers.contains { $0 == ("Metadata-Flavor", "Google") })
        #expect(request.deadline == .seconds(3))
    }

    @Test func environmentMovesAndLimitsTheProbe() async {
        let endpoint = TokenEndpoint([.json(200, "", headers: [Self.flavor])])
        #expect(await isPresent(["GCE_METADATA_IP": "127.0.0.1:80", "GCE_METADATA_TIMEOUT": "1"], endpoint))
        #expect(endpoint.requests.first?.url == "http://127.0.0.1:80")
        #expect(endpoint.requests.first?.deadline == .seconds(1))
    }

    @Test func answerWithoutTheFlavorIsSomeoneElse() async {
        let endpoint = TokenEndpoint([.json(200, "a router's page")])
        #expect(await !isPresent([:], endpoint))
        #expect(endpoint.requests.count == 1)
    }

    @Test func failedProbeIsTriedThreeTimes() async {
        let endpoint = TokenEndpoint([
            .failure(.notConnected), .failure(.connectionLost), .json(200, "", headers: [Self.flavor]),
        ])
        #expect(await isPresent([:], endpoint))
    }

    @Test func silentAddressCostsTwoLimitsAtMost() async {
        let clock = TestClock()
        let endpoint = TokenEndpoint { _, _ in
            clock.advance(by: .seconds(3))
            return .failure(.timedOut)
        }
        #expect(await !isPresent([:], endpoint, clock))
        #expect(endpoint.requests.count == 2)
    }

    @Test func productNameOfGoogleNeedsNoProbe() async throws {
        let files = CredentialFixture()
        let endpoint = TokenEndpoint([])
        let product = try files.write("product_name", "Google Compute Engine\n")
        #expect(await isPresent([:], endpoint, product: product))
        #expect(endpoint.requests.isEmpty)
    }

    @Test func checkMayBeTurnedOff() async {
        let endpoint = TokenEndpoint([.json(200, "", headers: [Self.flavor])])
        #expect(await !isPresent(["NO_GCE_CHECK": "true"], endpoint))
        #expect(endpoint.requests.isEmpty)
    }

    @Test func hostOfTheEnvironmentGivesTheToken() async throws {
        let endpoint = TokenEndpoint([.token("t")])
        let source = try await credentialSource(
            for: .applicationDefault, environment: ["GCE_METADATA_HOST": "127.0.0.1:8080"], by: TokenService(endpoint))
        #expect(try await source.authorization(replacing: nil) == Authorization(value: "Bearer t"))
        let request = try #require(endpoint.requests.first)
        let scope = "https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fdevstorage.full_control"
        let path = "/computeMetadata/v1/instance/service-accounts/default/token?scopes=\(scope)"
        #expect(request.url == "http://127.0.0.1:8080\(path)")
        #expect(request.method == .get)
        #expect(request.headers.contains { $0 == ("Metadata-Flavor", "Google") })
    }
}
