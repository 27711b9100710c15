/// What a developer's server signs for its user: an id and claims.
struct CustomToken {
    let uid: String
    let claims: [String: JSONValue]

    private static let audience =
        "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

    /// - Throws: `INVALID_CUSTOM_TOKEN`, `MISSING_IDENTIFIER`, `INVALID_CLAIMS` or `FORBIDDEN_CLAIM`.
    init(_ text: String) throws(APIError) {
        let payload = try text.hasPrefix("{") ? Self.bare(text) : Self.signed(text)
        guard let uid = payload["uid"]?.text ?? payload["user_id"]?.text, !uid.isEmpty else {
            throw .auth("MISSING_IDENTIFIER")
        }
        self.uid = uid
        switch payload["claims"] {
        case .object(let claims): self.claims = claims
        case nil: claims = [:]
        default: throw .auth("INVALID_CLAIMS")
        }
        if let forbidden = claims.keys.sorted().first(where: TokenIssuer.reserved.contains) {
            throw .auth("FORBIDDEN_CLAIM : \(forbidden)")
        }
    }

    private static func bare(_ text: String) throws(APIError) -> [String: JSONValue] {
        guard let members = try? JSONValue.parse(Array(text.utf8)).members else {
            throw .auth("INVALID_CUSTOM_TOKEN : ((The token begins as JSON but is none.))")
        }
        return members
    }

    private static func signed(_ text: String) throws(APIError) -> [String: JSONValue] {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = base64URLDecoded(parts[1]),
            let members = try? JSONValue.parse(payload).members
        else { throw .auth("INVALID_CUSTOM_TOKEN : Invalid assertion format") }
        guard members["aud"] == .string(audience) else {
            throw .auth("INVALID_CUSTOM_TOKEN : ((Invalid aud (audience): \(members["aud"]?.text ?? "none")))")
        }
        return members
    }
}
