import HTTPTransport
import ObjectStore
import Testing

@testable import CloudStores

/// Whom we act as, when the user has not said.
@Suite struct ApplicationDefaultTests {
    private let files = CredentialFixture()

    private func source(
        _ environment: [String: String], _ endpoint: TokenEndpoint = TokenEndpoint([])
    ) async throws -> any CredentialSource {
        // No machine of Google's answers unless a test says so.
        let environment = ["NO_GCE_CHECK": "true"].merging(environment) { $1 }
        return try await credentialSource(
            for: .applicationDefault, environment: environment, by: TokenService(endpoint))
    }

    private func bearer(_ source: any CredentialSource) async throws -> Authorization {
        try await source.authorization(replacing: nil)
    }

    @Test func namedFileComesFirst() async throws {
        let named = try files.write("named.json", CredentialFixture.serviceAccount())
        _ = try files.write("application_default_credentials.json", CredentialFixture.authorizedUser())
        let endpoint = TokenEndpoint([.token("t")])
        let environment = ["GOOGLE_APPLICATION_CREDENTIALS": named, "CLOUDSDK_CONFIG": files.path]
        #expect(try await bearer(source(environment, endpoint)) == Authorization(value: "Bearer t"))
        #expect(endpoint.requests.first?.url == "https://oauth2.example/token")
    }

    @Test(arguments: [nil, "not json", #"{"type":"authorized_user"}"#])
    func namedFileThatIsMissingOrBadIsAnErrorWhateverElseThereIs(text: String?) async throws {
        _ = try files.write("application_default_credentials.json", CredentialFixture.authorizedUser())
        if let text { _ = try files.write("named.json", text) }
        let named = files.path + "/named.json"
        let environment = ["GOOGLE_APPLICATION_CREDENTIALS": named, "CLOUDSDK_CONFIG": files.path]
        let error = await #expect(throws: CredentialError.self) { try await source(environment) }
        #expect(error?.message.hasPrefix("GOOGLE_APPLICATION_CREDENTIALS: \(named): ") == true)
        #expect(error?.message.contains("\n") == false)
    }

    @Test(arguments: ["CLOUDSDK_CONFIG", "HOME"])
    func gcloudsFileComesNext(variable: String) async throws {
        let folder = variable == "HOME" ? ".config/gcloud/" : ""
        _ = try files.write(
            folder + "application_default_credentials.json", CredentialFixture.authorizedUser())
        let endpoint = TokenEndpoint([.token("t")])
        let environment = [variable: files.path, "GOOGLE_APPLICATION_CREDENTIALS": ""]
        let authorization = try await bearer(source(environment, endpoint))
        #expect(authorization == Authorization(value: "Bearer t", quotaProject: "billing"))
        let form = "grant_type=refresh_token&client_id=id&client_secret=s%26cret&refresh_token=1%2F%2Fr"
        #expect(endpoint.requests.first?.text == form)
        #expect(endpoint.requests.first?.url == "https://oauth2.googleapis.com/token")
    }

    @Test func nothingAtAllNamesTheWaysOut() async {
        let error = await #expect(throws: CredentialError.self) { try await source(["HOME": files.path]) }
        for way in ["--key-file", "--token-file", "--anonymous", "GOOGLE_APPLICATION_CREDENTIALS", "gcloud"] {
            #expect(error?.message.contains(way) == true)
        }
    }

    @Test func typeWeDoNotKnowIsNamed() async throws {
        let path = try files.write("named.json", ["type": "external_account", "audience": "secret"])
        let error = await #expect(throws: CredentialError.self) {
            try await source(["GOOGLE_APPLICATION_CREDENTIALS": path])
        }
        #expect(error?.message.contains("\(path): credentials of type \"external_account\" are not supported") == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test(arguments: ["client_id", "client_secret", "refresh_token", "type"])
    func missingFieldOfAUserIsNamed(field: String) async throws {
        let path = try files.write("adc.json", CredentialFixture.authorizedUser([field: nil]))
        let error = await #expect(throws: CredentialError.self) {
            try await credentialSource(
                for: .keyFile(path), environment: [:], by: TokenService(TokenEndpoint([])))
        }
        #expect(error?.message.contains("\(path): the field \"\(field)\" is missing") == true)
    }

    @Test func folderInPlaceOfAFileIsRefused() async {
        let error = await #expect(throws: CredentialError.self) {
            try await source(["GOOGLE_APPLICATION_CREDENTIALS": files.path])
        }
        #expect(error?.message.contains(files.path) == true)
    }

    @Test func anonymousHasNothingToSay() async throws {
        let source = try await credentialSource(
            for: .anonymous, environment: [:], by: TokenService(TokenEndpoint([])))
        #expect(source.cachedAuthorization() == .anonymous)
        let error = await #expect(throws: StorageError.self) { try await source.authorization(replacing: .anonymous) }
        #expect(error?.kind == .unauthenticated)
    }
}
