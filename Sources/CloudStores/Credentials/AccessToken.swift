/// A token as its service issued it.
struct AccessToken: Sendable, Equatable {
    let value: String
    /// From the moment it was issued; nil: the service did not say.
    let lifetime: Duration?

    /// nil unless `value` is one run of visible ASCII, which is all that fits into a header.
    init?(_ value: String, lifetime: Duration? = nil) {
        guard !value.isEmpty, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        self.value = value
        self.lifetime = lifetime
    }

    /// Reads `access_token` and `expires_in` of a token service's answer; nil when there is no usable token.
    init?(_ fields: JSONFields) {
        self.init(fields, value: "access_token", lifetime: "expires_in")
    }

    /// - Parameters: which fields hold the token and its lifetime in seconds.
    init?(_ fields: JSONFields, value name: String, lifetime: String) {
        guard let value = fields.string(name) else { return nil }
        // A year is longer than any token lives and keeps the arithmetic in bounds.
        let seconds = fields.number(lifetime).map { max(0, min($0, 365 * 86_400)) }
        self.init(value, lifetime: seconds.map { .seconds(Int64($0)) })
    }

    func authorization(_ scheme: AuthorizationScheme, quotaProject: String?) -> Authorization {
        Authorization(value: "\(scheme.rawValue) \(value)", quotaProject: quotaProject)
    }
}

/// The word before the token in an `Authorization` header.
package enum AuthorizationScheme: String, Sendable {
    /// Google's services.
    case bearer = "Bearer"
    /// Cloud Storage for Firebase, with a user's ID token (PROTOCOL 1.2).
    case firebase = "Firebase"
}
