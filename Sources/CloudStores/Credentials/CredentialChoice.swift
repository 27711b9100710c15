package import HTTPTransport
package import Logging

/// Which credential the user wants.
package enum CredentialChoice: Sendable, Equatable {
    case anonymous
    /// A service account's key, or another JSON file of `gcloud`.
    case keyFile(String)
    /// A file that someone else keeps filled with a good access token.
    case tokenFile(String, AuthorizationScheme = .bearer)
    /// Who signed in with `firemount login`, kept in this file.
    /// - Parameter emulator: of Firebase Auth, where another one is named than at the sign-in.
    case firebaseUser(FirebaseIdentityFile, emulator: ServiceEndpoint? = nil)
    /// Whatever Google's own tools would use here.
    case applicationDefault
}

/// Finds the credential for `choice` and checks what can be checked without asking for a token.
/// - Parameter environment: the process's environment variables.
/// - Throws: when there is none, or it cannot be used as it is.
package func credentialSource(
    for choice: CredentialChoice, environment: [String: String], transport: any HTTPTransport, log: Logger
) async throws(CredentialError) -> any CredentialSource {
    try await credentialSource(
        for: choice, environment: environment, by: TokenService(transport: transport, log: log))
}

/// The same with a clock of the caller's choosing.
func credentialSource(
    for choice: CredentialChoice, environment: [String: String], by service: TokenService
) async throws(CredentialError) -> any CredentialSource {
    switch choice {
    case .anonymous: AnonymousCredential()
    case .keyFile(let path): try CredentialFile(path).source(service)
    case .tokenFile(let path, let scheme): try TokenFile(path, scheme, clock: service.clock)
    case .firebaseUser(let file, let emulator): try firebaseUser(in: file, emulator, service)
    case .applicationDefault: try await ApplicationDefault(environment).source(service)
    }
}

private func firebaseUser(
    in file: FirebaseIdentityFile, _ emulator: ServiceEndpoint?, _ service: TokenService
) throws(CredentialError) -> FirebaseUserCredential {
    guard let identity = try file.read() else {
        throw CredentialError("nobody is signed in; sign in with firemount login")
    }
    return try FirebaseUserCredential(identity, keptIn: file, emulator: emulator, service, token: nil)
}
