/// One sign-in: whose, and by what means. It outlives its ID tokens in the refresh token.
struct SignIn: Sendable {
    enum Provider: String, Sendable {
        case password, anonymous, custom
    }

    let account: Account
    let provider: Provider
    /// Claims of this sign-in alone, from its custom token.
    var claims: [String: JSONValue] = [:]
}

/// Makes tokens as the Auth emulator makes them: readable and unsigned (PROTOCOL 3.2).
struct TokenIssuer: Sendable {
    let project: String
    /// Of an ID token, in seconds.
    let lifetime: Int64

    /// Stands for the project's number, which the refresh call answers with.
    static let projectNumber = "123456789012"

    func idToken(_ signIn: SignIn, at time: Microseconds) -> String {
        var header = JSONWriter()
        header.object { json in
            json.string("alg", "none")
            json.string("typ", "JWT")
        }
        return "\(base64URL(header.bytes)).\(base64URL(claims(signIn, at: time / 1_000_000)))."
    }

    func refreshToken(_ signIn: SignIn, at time: Microseconds) -> String {
        var json = JSONWriter()
        json.object { json in
            json.string("_AuthEmulatorRefreshToken", "local")
            json.string("localId", signIn.account.id)
            json.string("provider", signIn.provider.rawValue)
            json.value("extraClaims", .object(signIn.claims))
            json.string("projectId", project)
            json.number("issuedAt", time / 1_000_000)
        }
        return String(decoding: base64(json.bytes), as: UTF8.self)
    }

    private func claims(_ signIn: SignIn, at now: Int64) -> [UInt8] {
        let account = signIn.account
        var own = account.customClaims.flatMap { try? JSONValue.parse(Array($0.utf8)).members } ?? [:]
        own.merge(signIn.claims) { $1 }
        for reserved in Self.reserved { own[reserved] = nil }
        var json = JSONWriter()
        json.object { json in
            for (key, value) in own.sorted(by: { $0.key < $1.key }) { json.value(key, value) }
            if let name = account.displayName { json.string("name", name) }
            if let photo = account.photoURL { json.string("picture", photo) }
            if let email = account.email {
                json.string("email", email)
                json.bool("email_verified", account.isEmailVerified)
            }
            if signIn.provider == .anonymous { json.string("provider_id", "anonymous") }
            json.string("iss", "https://securetoken.google.com/\(project)")
            json.string("aud", project)
            json.number("auth_time", account.lastSignIn / 1_000_000)
            json.string("user_id", account.id)
            json.string("sub", account.id)
            json.number("iat", now)
            json.number("exp", now + lifetime)
            json.object("firebase") { json in
                json.object("identities") { json in
                    if let email = account.email { json.value("email", .array([.string(email)])) }
                }
                json.string("sign_in_provider", signIn.provider.rawValue)
            }
        }
        return json.bytes
    }

    /// Claims that nobody chooses for himself.
    static let reserved: Set<String> = [
        "acr", "amr", "at_hash", "aud", "auth_time", "azp", "cnf", "c_hash", "email", "email_verified", "exp",
        "firebase", "iat", "iss", "jti", "nbf", "nonce", "phone_number", "provider_id", "sub", "user_id",
    ]
}
