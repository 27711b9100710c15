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
        guard let value = fields.string("access_token") else { return nil }
        // A year is longer than any token lives and keeps the arithmetic in bounds.
        let seconds = fields.number("expires_in").map { max(0, min($0, 365 * 86_400)) }
        self.init(value, lifetime: seconds.map { .seconds(Int64($0)) })
    }

    func authorization(quotaProject: String?) -> Authorization {
        Authorization(value: "Bearer \(value)", quotaProject: quotaProject)
    }
}
