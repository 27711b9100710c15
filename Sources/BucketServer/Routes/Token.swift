import Locking

/// `POST /token`: stands in for Google's token endpoint, so that credentials can be tried without an account.
extension Service {
    func grantToken(_ body: [UInt8]) throws(APIError) -> Response {
        let form = try Target(raw: Array("/?".utf8) + body)
        let secret: String? =
            switch form["grant_type"] {
            case "urn:ietf:params:oauth:grant-type:jwt-bearer": form["assertion"]
            case "refresh_token": form["refresh_token"]
            default: nil
            }
        guard let secret, !secret.isEmpty else { return oauthError("unsupported_grant_type", "Unknown grant type.") }
        guard secret != "bad" else { return oauthError("invalid_grant", "Token has been expired or revoked.") }
        let token = "local-\(randomID())"
        tokens.accept(token)
        var json = JSONWriter()
        json.object { json in
            json.string("access_token", token)
            json.number("expires_in", 3599)
            json.string("token_type", "Bearer")
        }
        return Response(json: json.bytes)
    }

    private func oauthError(_ error: String, _ description: String) -> Response {
        var json = JSONWriter()
        json.object { json in
            json.string("error", error)
            json.string("error_description", description)
        }
        return Response(status: 400, json: json.bytes)
    }
}

/// Which bearer tokens are let in: all, or the configured one and those that `/token` gave out.
final class AcceptedTokens: Sendable {
    /// More than any test asks for; the oldest are not worth remembering.
    private static let most = 10_000

    private let configured: String?
    private let granted = Lock<Set<String>>([])

    init(configured: String?) { self.configured = configured }

    func accept(_ token: String) {
        granted.withLock { granted in
            if granted.count >= Self.most { granted.removeAll() }
            granted.insert(token)
        }
    }

    /// - Throws: 401 when the server wants a token and this is none of them.
    func authorize(_ header: String?) throws(APIError) {
        guard let configured else { return }
        guard let header, header.hasPrefix("Bearer ") else { throw .unauthorized }
        let token = String(header.dropFirst(7))
        guard token == configured || granted.withLock({ $0.contains(token) }) else { throw .unauthorized }
    }
}
