/// The Auth service, as its emulator has it: the real host's name is the first part of the path (PROTOCOL 3.1).
extension Service {
    /// - Parameter path: the whole of it.
    /// - Returns: nil for an address that is not the Auth service's.
    func routeAuth(_ request: Request, _ path: [String]) throws(APIError) -> Route? {
        switch path.first {
        case "identitytoolkit.googleapis.com" where path.count == 3 && path[1] == "v1":
            return try routeAccounts(request, path[2])
        case "identitytoolkit.googleapis.com" where path.count == 5 && path[2] == "projects":
            // The administrator's libraries name the project.
            guard try isAuthOwner(request) else { throw .forbidden("Only the administrator may name a project.") }
            return try routeAccounts(request, path[4] == "accounts" ? "accounts:signUp" : path[4])
        case "www.googleapis.com" where path.dropLast() == ["www.googleapis.com"] + Self.legacyPath:
            guard let call = Self.legacyCalls[path.last ?? ""] else { return nil }
            return try routeAccounts(request, call)
        case "securetoken.googleapis.com" where path.count == 3 && path[2] == "token":
            _ = try isAuthOwner(request)
            return try Route.post("auth.token", request) { (body) throws(APIError) in
                try self.refreshToken(request, body)
            }
        case "emulator" where path.count == 5 && path[2] == "projects": return try routeProject(request, path[4])
        default: return nil
        }
    }

    private static let legacyPath = ["identitytoolkit", "v3", "relyingparty"]

    private static let legacyCalls = [
        "verifyPassword": "accounts:signInWithPassword", "signupNewUser": "accounts:signUp",
        "verifyCustomToken": "accounts:signInWithCustomToken", "getAccountInfo": "accounts:lookup",
        "setAccountInfo": "accounts:update", "deleteAccount": "accounts:delete",
    ]

    private func routeAccounts(_ request: Request, _ call: String) throws(APIError) -> Route? {
        let isOwner = try isAuthOwner(request)
        func route(
            _ operation: String, _ answer: @escaping ([String: JSONValue]) throws(APIError) -> Response
        ) throws(APIError) -> Route {
            try Route.post(operation, request) { (body) throws(APIError) in try answer(JSONValue.parseObject(body)) }
        }
        switch call {
        case "accounts:signUp":
            return try route("auth.signUp") { (body) throws(APIError) in
                isOwner ? try self.createAccount(body) : try self.signUp(body)
            }
        case "accounts:signInWithPassword":
            return try route("auth.signInWithPassword") { (body) throws(APIError) in
                try self.signInWithPassword(body)
            }
        case "accounts:signInWithCustomToken":
            return try route("auth.signInWithCustomToken") { (body) throws(APIError) in
                try self.signInWithCustomToken(body)
            }
        case "accounts:lookup":
            return try route("auth.lookup") { (body) throws(APIError) in
                try self.lookUpAccounts(body, isOwner: isOwner)
            }
        case "accounts:update":
            return try route("auth.update") { (body) throws(APIError) in
                try self.updateAccount(body, isOwner: isOwner)
            }
        case "accounts:delete":
            return try route("auth.delete") { (body) throws(APIError) in
                try self.deleteAccount(body, isOwner: isOwner)
            }
        default: return nil
        }
    }

    /// `/emulator/v1/projects/{p}/…`, for tests.
    private func routeProject(_ request: Request, _ what: String) throws(APIError) -> Route? {
        switch (what, request.sentMethod) {
        case ("accounts", "DELETE"):
            return .control { (_) throws(APIError) in
                try self.accounts.removeAll()
                return Response(json: Array("{}".utf8))
            }
        case ("config", "GET"):
            return .control { (_) throws(APIError) in self.authConfiguration() }
        case ("config", "PATCH"):
            return .control { (body) throws(APIError) in
                let change = try JSONValue.parseObject(body)["emailPrivacyConfig"]?.members
                if let protects = change?["enableImprovedEmailPrivacy"] {
                    self.accounts.protectsAddresses = protects == .bool(true)
                }
                return self.authConfiguration()
            }
        default: return nil
        }
    }

    private func authConfiguration() -> Response {
        var json = JSONWriter()
        json.object { json in
            json.object("signIn") { $0.bool("allowDuplicateEmails", false) }
            json.object("emailPrivacyConfig") { json in
                json.bool("enableImprovedEmailPrivacy", accounts.protectsAddresses)
            }
        }
        return Response(json: json.bytes)
    }

    /// Any key will do, but there must be one.
    /// - Returns: whether the administrator asks.
    /// - Throws: 403 without key and credential.
    private func isAuthOwner(_ request: Request) throws(APIError) -> Bool {
        if try Caller(request, at: 0) == .owner { return true }
        let key = request.target["key"] ?? request.headers["X-Goog-Api-Key"] ?? ""
        guard !key.isEmpty else { throw .forbidden("The request is missing a valid API key.") }
        return false
    }
}

extension Route {
    fileprivate static func post(
        _ operation: String, _ request: Request, answer: @escaping ([UInt8]) throws(APIError) -> Response
    ) throws(APIError) -> Route {
        guard request.sentMethod == "POST" else { throw .methodNotAllowed }
        return Route(operation, answer: answer)
    }
}
