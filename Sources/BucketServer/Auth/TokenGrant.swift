/// A request for a new ID token.
struct TokenGrant {
    private let type: String?
    private let token: String?

    init(_ request: Request, _ body: [UInt8]) throws(APIError) {
        if request.headers["Content-Type"]?.lowercased().hasPrefix("application/json") == true {
            let document = try JSONValue.parseObject(body)
            type = document["grantType"]?.text ?? document["grant_type"]?.text
            token = document["refreshToken"]?.text ?? document["refresh_token"]?.text
        } else {
            let form = try Target(raw: Array("/?".utf8) + body)
            type = form["grant_type"] ?? form["grantType"]
            token = form["refresh_token"] ?? form["refreshToken"]
        }
    }

    /// What the refresh token says.
    /// - Throws: `MISSING_GRANT_TYPE`, `INVALID_GRANT_TYPE`, `MISSING_REFRESH_TOKEN` or `INVALID_REFRESH_TOKEN`.
    func refreshed() throws(APIError) -> (
        id: String, provider: SignIn.Provider, claims: [String: JSONValue], time: Int64
    ) {
        guard let type, !type.isEmpty else { throw .auth("MISSING_GRANT_TYPE") }
        guard type == "refresh_token" else { throw .auth("INVALID_GRANT_TYPE") }
        guard let token, !token.isEmpty else { throw .auth("MISSING_REFRESH_TOKEN") }
        guard let text = base64URLDecoded(token), let members = try? JSONValue.parse(text).members,
            members["_AuthEmulatorRefreshToken"] != nil, let id = members["localId"]?.text,
            let provider = members["provider"]?.text.flatMap(SignIn.Provider.init)
        else { throw .auth("INVALID_REFRESH_TOKEN") }
        return (id, provider, members["extraClaims"]?.members ?? [:], members["issuedAt"]?.integer ?? 0)
    }
}
