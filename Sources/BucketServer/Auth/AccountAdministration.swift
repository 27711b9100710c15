/// Calls on accounts that are there (PROTOCOL 3.1): by their own users, or by the administrator.
extension Service {
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
        let (account, _) = try accounts.change(id: id) { (known) throws(APIError) in
            guard var account = known else { throw .auth("USER_NOT_FOUND") }
            account.displayName = body["displayName"]?.text ?? account.displayName
            account.photoURL = body["photoUrl"]?.text ?? account.photoURL
            if let password = body["password"]?.text {
                account.password = try PasswordHash(password)
                account.validSince = now / 1_000_000
            }
            guard isOwner else { return account }
            if let email = body["email"]?.text { account.email = try Account.canonical(email: email) }
            if let verified = body["emailVerified"] { account.isEmailVerified = verified == .bool(true) }
            if let disables = body["disableUser"] { account.isDisabled = disables == .bool(true) }
            account.customClaims = body["customAttributes"]?.text ?? account.customClaims
            account.validSince = body["validSince"]?.text.flatMap { Int64($0) } ?? account.validSince
            return account
        }
        var json = JSONWriter()
        json.object { json in
            json.string("kind", "identitytoolkit#SetAccountInfoResponse")
            json.string("localId", account.id)
            if let email = account.email { json.string("email", email) }
            if let name = account.displayName { json.string("displayName", name) }
        }
        return Response(json: json.bytes)
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
