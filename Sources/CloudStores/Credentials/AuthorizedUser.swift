import ObjectStore

/// A person's lasting consent, as `gcloud auth application-default login` stores it.
struct AuthorizedUser: TokenIssuer {
    private let form: [(name: String, value: String)]
    private let endpoint: String

    init(_ file: CredentialFile) throws(CredentialError) {
        form = [
            ("grant_type", "refresh_token"),
            ("client_id", try file.required("client_id")),
            ("client_secret", try file.required("client_secret")),
            ("refresh_token", try file.required("refresh_token")),
        ]
        endpoint = try file.tokenEndpoint()
    }

    func token(by service: TokenService) async throws(StorageError) -> AccessToken {
        try await service.token(posting: form, to: endpoint)
    }
}
