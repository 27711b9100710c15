/// Calls on accounts that are there (PROTOCOL 3.1): by their own users, or by the administrator.
extension Service {
    /// `accounts:signUp` by the administrator: a user with what he says, who is not signed in.
    func createAccount(_ body: [String: JSONValue]) throws(APIError) -> Response {
        let id = body["localId"]?.text ?? Account.newID()
        let now = currentTime()
        let account = try accounts.change(id: id) { (known) throws(APIError) in
            guard known == nil else { throw .auth("DUPLICATE_LOCAL_ID") }
            var account = Account(id: id, at: now)
            try account.take(body, isOwner: true, at: now)
            return account
        }.account
        return answer("identitytoolkit#SignupNewUserResponse", about: account)
    }

    /// `accounts:lookup`.
    func lookUpAccounts(_ body: [String: JSONValue], isOwner: Bool) throws(APIError) -> Response {
        var found: [Account] = []
        if isOwner, body["idToken"] == nil {
            for id in body["localId"]?.elements ?? [] {
                if let account = try accounts.account(id: id.text ?? "") { found.append(account) }
            }
            for email in body["email"]?.elements ?? [] {
                if let account = try accounts.account(email: email.text?.lowercased() ?? "") { found.append(account) }
            }
        } else {
            found = [try account(idToken: try body.required("idToken", or: "MISSING_ID_TOKEN"))]
        }
        var json = JSONWriter()
        json.object { json in
            json.string("kind", "identitytoolkit#GetAccountInfoResponse")
            guard !found.isEmpty else { return }
            json.array("users") { json in
                for account in found { write(account, to: &json) }
            }
        }
        return Response(json: json.bytes)
    }

    /// `accounts:update`: display name, photo and password by the user; the rest by the administrator.
    func updateAccount(_ body: [String: JSONValue], isOwner: Bool) throws(APIError) -> Response {
        let id = try accountID(body, isOwner: isOwner)
        let now = currentTime()
        let account = try accounts.change(id: id) { (known) throws(APIError) in
            guard var account = known else { throw .auth("USER_NOT_FOUND") }
            try account.take(body, isOwner: isOwner, at: now)
            return account
        }.account
        return answer("identitytoolkit#SetAccountInfoResponse", about: account)
    }

    /// `accounts:delete`.
    func deleteAccount(_ body: [String: JSONValue], isOwner: Bool) throws(APIError) -> Response {
        let id = try accountID(body, isOwner: isOwner)
        guard try accounts.account(id: id) != nil else { throw .auth("USER_NOT_FOUND") }
        try accounts.remove(id: id)
        var json = JSONWriter()
        json.object { $0.string("kind", "identitytoolkit#DeleteAccountResponse") }
        return Response(json: json.bytes)
    }

    private func accountID(_ body: [String: JSONValue], isOwner: Bool) throws(APIError) -> String {
        if isOwner, let id = body["localId"]?.text { return id }
        return try account(idToken: try body.required("idToken", or: "MISSING_ID_TOKEN")).id
    }

    private func answer(_ kind: String, about account: Account) -> Response {
        var json = JSONWriter()
        json.object { json in
            json.string("kind", kind)
            json.string("localId", account.id)
            if let email = account.email { json.string("email", email) }
            if let name = account.displayName { json.string("displayName", name) }
        }
        return Response(json: json.bytes)
    }

    private func write(_ account: Account, to json: inout JSONWriter) {
        json.object { json in
            json.string("localId", account.id)
            if let email = account.email {
                json.string("email", email)
                json.bool("emailVerified", account.isEmailVerified)
            }
            if let name = account.displayName { json.string("displayName", name) }
            if let photo = account.photoURL { json.string("photoUrl", photo) }
            if account.password != nil, let email = account.email {
                json.array("providerUserInfo") { json in
                    json.object { json in
                        json.string("providerId", "password")
                        json.string("federatedId", email)
                        json.string("email", email)
                        json.string("rawId", email)
                    }
                }
            }
            json.string("validSince", String(account.validSince))
            json.bool("disabled", account.isDisabled)
            json.string("lastLoginAt", String(account.lastSignIn / 1_000))
            json.string("createdAt", String(account.created / 1_000))
            if account.isCustom { json.bool("customAuth", true) }
            if let claims = account.customClaims { json.string("customAttributes", claims) }
        }
    }
}

extension Account {
    /// Takes over what a request says of the account.
    fileprivate mutating func take(
        _ body: [String: JSONValue], isOwner: Bool, at time: Microseconds
    ) throws(APIError) {
        displayName = body["displayName"]?.text ?? displayName
        photoURL = body["photoUrl"]?.text ?? photoURL
        if let password = body["password"]?.text {
            self.password = try PasswordHash(password)
            validSince = time / 1_000_000
        }
        guard isOwner else { return }
        if let email = body["email"]?.text { self.email = try Account.canonical(email: email) }
        if let verified = body["emailVerified"] { isEmailVerified = verified == .bool(true) }
        if let disabled = body["disableUser"] ?? body["disabled"] { isDisabled = disabled == .bool(true) }
        customClaims = body["customAttributes"]?.text ?? customClaims
        validSince = body["validSince"]?.text.flatMap { Int64($0) } ?? validSince
    }
}
