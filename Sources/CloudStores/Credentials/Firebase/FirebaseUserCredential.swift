package import HTTPTransport
import Locking
package import Logging
package import ObjectStore

/// A signed-in Firebase user: ID tokens, renewed five minutes before they end (PROTOCOL 3.1), or halfway for those that
/// live shorter. One renewal is under way at a time, and all who wait share it; any thread may ask.
package final class FirebaseUserCredential: CredentialSource {
    private let issuer: FirebaseTokenIssuer
    private let tokens: RefreshingCredential

    /// - Parameter file: where the identity is kept; new refresh tokens are written there. nil: nowhere.
    package convenience init(
        _ identity: FirebaseIdentity, keptIn file: FirebaseIdentityFile? = nil, emulator: ServiceEndpoint? = nil,
        transport: any HTTPTransport, log: Logger
    ) throws(CredentialError) {
        try self.init(
            identity, keptIn: file, emulator: emulator, TokenService(transport: transport, log: log), token: nil)
    }

    /// Of a user who has just signed in.
    package convenience init(
        _ signIn: FirebaseSignIn, transport: any HTTPTransport, log: Logger
    ) throws(CredentialError) {
        try self.init(
            signIn.identity, keptIn: nil, emulator: nil, TokenService(transport: transport, log: log),
            token: signIn.token)
    }

    init(
        _ identity: FirebaseIdentity, keptIn file: FirebaseIdentityFile?, emulator: ServiceEndpoint?,
        _ service: TokenService, token: AccessToken?
    ) throws(CredentialError) {
        let kept = try identity.emulator.map { (root) throws(CredentialError) in try Self.endpoint(root) }
        let auth = try FirebaseAuth(apiKey: identity.apiKey, emulator: emulator ?? kept, service)
        issuer = FirebaseTokenIssuer(identity, keptIn: file, auth)
        tokens = RefreshingCredential(of: issuer, service, token: token)
    }

    private static func endpoint(_ root: String) throws(CredentialError) -> ServiceEndpoint {
        do {
            return try ServiceEndpoint(parsing: root)
        } catch {
            throw CredentialError("\(error); sign in again with firemount login")
        }
    }

    package var identity: FirebaseIdentity { issuer.identity }

    package func cachedAuthorization() -> Authorization? { tokens.cachedAuthorization() }

    package func authorization(replacing rejected: Authorization?) async throws(StorageError) -> Authorization {
        try await tokens.authorization(replacing: rejected)
    }
}

/// Trades a user's refresh token for ID tokens.
final class FirebaseTokenIssuer: TokenIssuer {
    let scheme = AuthorizationScheme.firebase
    let margin = Duration.seconds(300)

    private let state: Lock<FirebaseIdentity>
    private let file: FirebaseIdentityFile?
    private let auth: FirebaseAuth

    init(_ identity: FirebaseIdentity, keptIn file: FirebaseIdentityFile?, _ auth: FirebaseAuth) {
        state = Lock(identity)
        self.file = file
        self.auth = auth
    }

    var identity: FirebaseIdentity { state.withLock { $0 } }

    func token(by service: TokenService) async throws(StorageError) -> AccessToken {
        do {
            return try await renewed()
        } catch {
            // The user may have signed in again meanwhile.
            guard FirebaseAuthCode.endsSignIn(error), adoptNewerSignIn() else {
                throw FirebaseAuthCode.explained(error)
            }
        }
        do {
            return try await renewed()
        } catch {
            throw FirebaseAuthCode.explained(error)
        }
    }

    private func renewed() async throws(StorageError) -> AccessToken {
        let old = identity.refreshToken
        let renewal = try await auth.renew(old)
        guard renewal.refreshToken != old else { return renewal.token }
        let identity = state.withLock { identity in
            identity.refreshToken = renewal.refreshToken
            return identity
        }
        do {
            try file?.update(identity)
        } catch {
            auth.service.log(.warning, "the renewed sign-in could not be kept: \(error)")
        }
        return renewal.token
    }

    private func adoptNewerSignIn() -> Bool {
        guard let newer = try? file?.read() else { return false }
        return state.withLock { identity in
            guard newer.uid == identity.uid, newer.apiKey == identity.apiKey, newer != identity else { return false }
            identity = newer
            return true
        }
    }
}
