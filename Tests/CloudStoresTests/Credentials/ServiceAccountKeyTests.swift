import Foundation
import HTTPTransport
import ObjectStore
import Testing

@testable import CloudStores

@Suite struct ServiceAccountKeyTests {
    private let files = CredentialFixture()

    private func key(_ changes: [String: String?] = [:]) throws -> ServiceAccountKey {
        let path = try files.write("key.json", CredentialFixture.serviceAccount(changes))
        return try ServiceAccountKey(CredentialFile(path))
    }

    private func decoded(_ part: Substring) throws -> Data {
        var text = part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        while text.count % 4 != 0 { text.append("=") }
        return try #require(Data(base64Encoded: String(text)))
    }

    @Test func assertionSaysWhoWeAreAndVerifies() throws {
        let assertion = try #require(try key().assertion(at: 1_700_000_000))
        let parts = assertion.split(separator: ".")
        try #require(parts.count == 3)
        let header = try #require(JSONFields(Array(try decoded(parts[0]))))
        #expect(header.string("alg") == "RS256")
        #expect(header.string("typ") == "JWT")
        #expect(header.string("kid") == "k1")
        let claims = try #require(JSONFields(Array(try decoded(parts[1]))))
        #expect(claims.string("iss") == "robot@p.iam.gserviceaccount.com")
        #expect(claims.string("aud") == "https://oauth2.googleapis.com/token")
        #expect(claims.string("scope") == "https://www.googleapis.com/auth/devstorage.full_control")
        #expect(claims.number("iat") == 1_700_000_000)
        #expect(claims.number("exp") == 1_700_003_600)
        let statement = String(parts[0] + "." + parts[1])
        let signature = try decoded(parts[2])
        let owner = OpenSSL.rsaKey.public
        #expect(try OpenSSL.verifies(signature, of: statement, by: owner, in: files.path))
        #expect(try !OpenSSL.verifies(signature, of: statement + "x", by: owner, in: files.path))
    }

    @Test func traditionalKeyAndMissingKeyIDAreFine() throws {
        let changes = ["private_key": try OpenSSL.traditional(OpenSSL.rsaKey.private), "private_key_id": nil]
        let assertion = try #require(try key(changes).assertion(at: 0))
        let header = try #require(JSONFields(Array(try decoded(assertion.split(separator: ".")[0]))))
        #expect(!header.has("kid"))
    }

    @Test func assertionIsTradedForAToken() async throws {
        let endpoint = TokenEndpoint([.token("ya29.a")])
        let token = try await key().token(by: TokenService(endpoint))
        #expect(token == AccessToken("ya29.a", lifetime: .seconds(3_600)))
        let request = try #require(endpoint.requests.first)
        #expect(request.method == .post)
        #expect(request.url == "https://oauth2.example/token")
        let beginning = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=ey"
        #expect(request.text.hasPrefix(beginning))
        #expect(request.headers.contains { $0 == ("Content-Type", "application/x-www-form-urlencoded") })
    }

    @Test func tokensComeFromGoogleUnlessTheFileSaysOtherwise() async throws {
        let endpoint = TokenEndpoint([.token("t")])
        _ = try await key(["token_uri": nil]).token(by: TokenService(endpoint))
        #expect(endpoint.requests.first?.url == "https://oauth2.googleapis.com/token")
    }

    @Test(arguments: ["private_key", "client_email"])
    func missingFieldIsNamed(field: String) throws {
        let error = #expect(throws: CredentialError.self) { try key([field: nil]) }
        #expect(error?.message.contains("key.json: the field \"\(field)\" is missing") == true)
    }

    @Test func keyThatIsNoRSAKeyIsRefusedWithoutShowingIt() throws {
        let pem = OpenSSL.rsaKey.private
        let bad = [
            "secret", "", String(pem.prefix(400)), OpenSSL.rsaKey.public, try OpenSSL.ellipticKey(),
            try OpenSSL.encrypted(pem),
        ]
        for text in bad {
            let error = #expect(throws: CredentialError.self) { try key(["private_key": text]) }
            let message = error?.message ?? ""
            #expect(message.contains("key.json") && message.contains("\"private_key\""))
            #expect(!message.contains("secret") && !message.contains("BEGIN") && !message.contains("\n"))
        }
    }

    @Test(arguments: [
        "http://oauth2.example/token", "ftp://oauth2.example/", "oauth2.example", "http://127.0.0.1.example/",
    ])
    func plainTokenEndpointBeyondLoopbackIsRefused(endpoint: String) throws {
        let error = #expect(throws: CredentialError.self) { try key(["token_uri": endpoint]) }
        #expect(error?.message.contains("token_uri") == true)
    }

    @Test func plainTokenEndpointOnLoopbackIsFine() throws {
        _ = try key(["token_uri": "http://127.0.0.1:9099/token"])
        _ = try key(["token_uri": "http://localhost:9099/token"])
    }
}
