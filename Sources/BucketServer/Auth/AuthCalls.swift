/// The Auth service's calls (PROTOCOL 3.1).
extension Service {
    /// `accounts:signUp`: a new user, by e-mail or anonymous. With an `idToken`, that user gets the e-mail.
    func signUp(_ body: [String: JSONValue]) throws(APIError) -> Response {
        guard body["localId"] == nil else { throw .auth("UNEXPECTED_PARAMETER : User ID") }
        let now = currentTime()
        // An empty address is a mistake, no wish to stay anonymous.
        let isAnonymous = body["email"]?.text == nil && body["password"]?.text == nil && body["idToken"]?.text == nil
        var id = Account.newID()
        if let token = body["idToken"]?.text, !token.isEmpty { id = try self.account(idToken: token).id }
        var email: String?
        var password: PasswordHash?
        if !isAnonymous {
            email = try Account.canonical(email: try body.required("email", or: "MISSING_EMAIL"))
            if try accounts.account(email: email ?? "") != nil { throw .auth("EMAIL_EXISTS") }
            password = try PasswordHash(try body.required("password", or: "MISSING_PASSWORD"))
        }
        let account = try accounts.change(id: id) { [id] known in
            var account = known ?? Account(id: id, at: now)
            account.email = email ?? account.email
            account.password = password ?? account.password
            account.displayName = body["displayName"]?.text ?? account.displayName
            if password != nil { account.validSince = now / 1_000_000 }
            account.lastSignIn = now
            return account
        }.account
        return answer(
            "identitytoolkit#SignupNewUserResponse",
            tokensFor: SignIn(
                account: account, provider: isAnonymous ? .anonymous : .password)
        ) { json in
            json.string("localId", account.id)
            if let name = account.displayName { json.string("displayName", name) }
            if let email { json.string("email", email) }
        }
    }

    /// `accounts:signInWithPassword`.
    func signInWithPassword(_ body: [String: JSONValue]) throws(APIError) -> Response {
        guard let typed = body["email"]?.text else { throw .auth("MISSING_EMAIL") }
        let email = try Account.canonical(email: typed)
        let password = try body.required("password", or: "MISSING_PASSWORD")
        let isSilent = accounts.protectsAddresses
        guard let found = try accounts.account(email: email) else {
            throw .auth(isSilent ? "INVALID_LOGIN_CREDENTIALS" : "EMAIL_NOT_FOUND")
        }
        try found.checkEnabled()
        guard found.password?.matches(password) == true else {
            throw .auth(isSilent ? "INVALID_LOGIN_CREDENTIALS" : "INVALID_PASSWORD")
        }
        let account = try signedIn(found.id)
        return answer(
            "identitytoolkit#VerifyPasswordResponse", tokensFor: SignIn(account: account, provider: .password)
        ) { json in
            json.bool("registered", true)
            json.string("localId", account.id)
            json.string("email", email)
            json.string("displayName", account.displayName ?? "")
        }
    }

    /// `accounts:signInWithCustomToken`: a JSON Web Token, whose signature and times nobody checks, or its payload.
    func signInWithCustomToken(_ body: [String: JSONValue]) throws(APIError) -> Response {
        let token = try CustomToken(try body.required("token", or: "MISSING_CUSTOM_TOKEN"))
        let now = currentTime()
        let (account, isNew) = try accounts.change(id: token.uid) { (known) throws(APIError) in
            try known?.checkEnabled()
            var account = known ?? Account(id: token.uid, at: now)
            account.isCustom = true
            account.lastSignIn = now
            return account
        }
        return answer(
            "identitytoolkit#VerifyCustomTokenResponse",
            tokensFor: SignIn(account: account, provider: .custom, claims: token.claims)
        ) { json in json.bool("isNewUser", isNew) }
    }

    /// `POST securetoken…/v1/token`: a new ID token for a refresh token. The body is a form or JSON.
    func refreshToken(_ request: Request, _ body: [UInt8]) throws(APIError) -> Response {
        let grant = try TokenGrant(request, body)
        let issued = try grant.refreshed()
        guard let account = try accounts.account(id: issued.id) else { throw .auth("USER_NOT_FOUND") }
        try account.checkEnabled()
        guard issued.time >= account.validSince else { throw .auth("TOKEN_EXPIRED") }
        let signIn = SignIn(account: account, provider: issued.provider, claims: issued.claims)
        let now = currentTime()
        let token = issuer.idToken(signIn, at: now)
        var json = JSONWriter()
        json.object { json in
            json.string("id_token", token)
            json.string("access_token", token)
            json.string("expires_in", String(issuer.lifetime))
            json.string("refresh_token", issuer.refreshToken(signIn, at: now))
            json.string("token_type", "Bearer")
            json.string("user_id", account.id)
            json.string("project_id", TokenIssuer.projectNumber)
        }
        return Response(json: json.bytes)
    }

    // MARK: In common

    /// The user an ID token is of.
    /// - Throws: `INVALID_ID_TOKEN`, `TOKEN_EXPIRED`, `USER_NOT_FOUND` or `USER_DISABLED`.
    func account(idToken: String) throws(APIError) -> Account {
        let parts = idToken.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = base64URLDecoded(parts[1]),
            let claims = try? JSONValue.parse(payload).members,
            let id = claims["user_id"]?.text ?? claims["sub"]?.text
        else { throw .auth("INVALID_ID_TOKEN") }
        guard let account = try accounts.account(id: id) else { throw .auth("USER_NOT_FOUND") }
        try account.checkEnabled()
        let (issued, end) = (claims["iat"]?.integer ?? 0, claims["exp"]?.integer ?? .max)
        guard issued >= account.validSince, end > currentTime() / 1_000_000 else { throw .auth("TOKEN_EXPIRED") }
        return account
    }

    private func signedIn(_ id: String) throws(APIError) -> Account {
        let now = currentTime()
        return try accounts.change(id: id) { (known) throws(APIError) in
            guard var account = known else { throw .auth("USER_NOT_FOUND") }
            account.lastSignIn = now
            return account
        }.account
    }

    private func answer(
        _ kind: String, tokensFor signIn: SignIn, _ members: (inout JSONWriter) -> Void
    ) -> Response {
        let now = currentTime()
        var json = JSONWriter()
        json.object { json in
            json.string("kind", kind)
            members(&json)
            json.string("idToken", issuer.idToken(signIn, at: now))
            json.string("refreshToken", issuer.refreshToken(signIn, at: now))
            json.string("expiresIn", String(issuer.lifetime))
        }
        return Response(json: json.bytes)
    }
}

extension [String: JSONValue] {
    /// - Throws: the code, when there is no such text or an empty one.
    func required(_ key: String, or code: String) throws(APIError) -> String {
        guard let text = self[key]?.text, !text.isEmpty else { throw .auth(code) }
        return text
    }
}

extension JSONValue {
    var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }
}
