import FoundationEssentials
package import HTTPTransport
package import Logging
package import ObjectStore

/// Signs users in with Firebase Auth and renews their tokens (PROTOCOL 3.1). A plain value.
package struct FirebaseAuth: Sendable {
    /// Says which project; no secret.
    package let apiKey: String
    /// Where the services are; nil: Google's.
    package let emulator: ServiceEndpoint?
    let service: TokenService

    /// - Parameter emulator: an emulator of Firebase Auth, as `FIREBASE_AUTH_EMULATOR_HOST` names it.
    /// - Throws: when passwords and tokens would travel in the clear.
    package init(
        apiKey: String, emulator: ServiceEndpoint?, transport: any HTTPTransport, log: Logger
    ) throws(CredentialError) {
        try self.init(apiKey: apiKey, emulator: emulator, TokenService(transport: transport, log: log))
    }

    init(apiKey: String, emulator: ServiceEndpoint?, _ service: TokenService) throws(CredentialError) {
        if let emulator, !TokenService.mayBeAsked(emulator.root) {
            throw CredentialError(
                "\(emulator): signing in over plain http is for loopback hosts only; name an https address")
        }
        self.apiKey = apiKey
        self.emulator = emulator
        self.service = service
    }

    // MARK: Signing in

    /// - Throws: `.unauthenticated` with the reason in words, or why nobody could be asked.
    package func signIn(email: String, password: String) async throws(StorageError) -> FirebaseSignIn {
        try await signIn("signInWithPassword", ["email": email, "password": password])
    }

    /// As a new user without a name.
    package func signInAnonymously() async throws(StorageError) -> FirebaseSignIn { try await signIn("signUp", [:]) }

    /// As a new user with a name.
    package func signUp(email: String, password: String) async throws(StorageError) -> FirebaseSignIn {
        try await signIn("signUp", ["email": email, "password": password])
    }

    /// - Parameter customToken: a JWT that the project's own server has made.
    package func signIn(customToken: String) async throws(StorageError) -> FirebaseSignIn {
        try await signIn("signInWithCustomToken", ["token": customToken])
    }

    private func signIn(_ method: String, _ fields: [String: String]) async throws(StorageError) -> FirebaseSignIn {
        var json = JSONObject()
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) { json.set(key, value) }
        json.set("returnSecureToken", true)
        let answer: JSONFields
        do {
            answer = try await ask("identitytoolkit.googleapis.com/v1/accounts:\(method)", json)
        } catch {
            throw FirebaseAuthCode.explained(error)
        }
        guard answer.string("mfaPendingCredential") == nil else {
            throw failure("this account asks for a second factor, which is not supported")
        }
        guard let token = AccessToken(answer, value: "idToken", lifetime: "expiresIn"),
            let refreshToken = answer.string("refreshToken"), let claims = IDToken(token.value),
            let uid = answer.string("localId") ?? claims.uid
        else { throw TokenFailure.noToken.error }
        let identity = FirebaseIdentity(
            apiKey: apiKey, emulator: emulator?.root, projectID: claims.projectID, uid: uid,
            email: answer.string("email") ?? claims.email, provider: claims.provider, refreshToken: refreshToken)
        return FirebaseSignIn(identity: identity, token: token)
    }

    // MARK: Renewing

    struct Renewal {
        let token: AccessToken
        let refreshToken: String
    }

    /// - Throws: what the service said, word by word.
    func renew(_ refreshToken: String) async throws(StorageError) -> Renewal {
        var json = JSONObject()
        json.set("grant_type", "refresh_token")
        json.set("refresh_token", refreshToken)
        let answer = try await ask("securetoken.googleapis.com/v1/token", json)
        guard let token = AccessToken(answer, value: "id_token", lifetime: "expires_in") else {
            throw TokenFailure.noToken.error
        }
        return Renewal(token: token, refreshToken: answer.string("refresh_token") ?? refreshToken)
    }

    // MARK: Asking

    /// - Parameter path: the service's host, which an emulator takes as the first part of the path.
    private func ask(_ path: String, _ json: JSONObject) async throws(StorageError) -> JSONFields {
        let root = emulator.map { $0.root + "/" } ?? "https://"
        let request = HTTPRequest(
            .post, "\(root)\(path)?key=\(PercentEncoding.encode(apiKey))",
            headers: [("Content-Type", "application/json"), ("Accept", "application/json")], body: .bytes(json.bytes))
        return try await service.fields(request)
    }

    private func failure(_ message: String) -> StorageError {
        StorageError(.unauthenticated, operation: TokenService.operation, message: message)
    }
}

/// What came of signing in.
package struct FirebaseSignIn: Sendable {
    package let identity: FirebaseIdentity
    let token: AccessToken
}

/// What the service's codes mean to people (PROTOCOL 3.1).
enum FirebaseAuthCode {
    private static let terminal: Set<String> = [
        "TOKEN_EXPIRED", "USER_DISABLED", "USER_NOT_FOUND", "INVALID_REFRESH_TOKEN",
    ]

    /// Whether a stored identity is worth nothing any more.
    static func endsSignIn(_ error: StorageError) -> Bool { code(error).map(terminal.contains) ?? false }

    /// The code that a refusal begins with; nil: it has none.
    private static func code(_ error: StorageError) -> String? {
        let code = error.message.prefix { $0 != " " && $0 != ":" }
        return code.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
            && !code.isEmpty ? String(code) : nil
    }

    static func explained(_ error: StorageError) -> StorageError {
        guard let words = code(error).flatMap(words) ?? (isAboutKey(error) ? keyWords : nil) else { return error }
        return StorageError(
            error.kind, operation: error.operation, httpStatus: error.httpStatus, message: "\(words) (\(error.message))"
        )
    }

    static let signInAgain = "the sign-in has ended; sign in again with firemount login"

    private static let keyWords = "the API key is not good; copy it from the project's settings in the console"

    private static func isAboutKey(_ error: StorageError) -> Bool { error.message.lowercased().contains("api key") }

    private static func words(_ code: String) -> String? {
        switch code {
        case _ where terminal.contains(code) && code != "USER_DISABLED": signInAgain
        case "EMAIL_NOT_FOUND", "INVALID_PASSWORD", "INVALID_LOGIN_CREDENTIALS":
            "the e-mail address or the password is wrong"
        case "USER_DISABLED": "the account is disabled; ask the project's owner, then sign in again"
        case "INVALID_EMAIL", "MISSING_EMAIL": "that is no e-mail address"
        case "MISSING_PASSWORD": "the password is empty"
        case "EMAIL_EXISTS": "there is a user with this e-mail address already"
        case "WEAK_PASSWORD": "the password is too short"
        case "TOO_MANY_ATTEMPTS_TRY_LATER": "too many attempts; wait a few minutes"
        case "PASSWORD_LOGIN_DISABLED", "OPERATION_NOT_ALLOWED", "ADMIN_ONLY_OPERATION":
            "this way to sign in is turned off in the project"
        case "MISSING_CUSTOM_TOKEN", "INVALID_CUSTOM_TOKEN": "the custom token is not good, or older than an hour"
        case "CREDENTIAL_MISMATCH": "the custom token is of another project than the API key"
        case "PROJECT_DISABLED": "the project is disabled"
        default: nil
        }
    }
}
