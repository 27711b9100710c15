package import ObjectStore

/// Headers that say who we are. Never logged; the transport refuses to send them over plain http beyond loopback.
package struct Authorization: Sendable, Equatable {
    /// `Authorization` value, such as `Bearer …`; nil: anonymous.
    package let value: String?
    /// `x-goog-user-project` value, where the credential names one.
    package let quotaProject: String?

    package init(value: String?, quotaProject: String? = nil) {
        self.value = value
        self.quotaProject = quotaProject
    }

    package static let anonymous = Authorization(value: nil)
}

/// Where authorizations come from. One refresh is shared by all who wait for it.
package protocol CredentialSource: Sendable {
    /// The one at hand if it is good for a while yet; nil: ask `authorization(replacing:)`. Never waits.
    func cachedAuthorization() -> Authorization?

    /// A good one, fetched if need be.
    /// - Parameter rejected: the one a server has just refused with 401; it is not handed out again if another can be
    ///   had.
    /// - Throws: `.unauthenticated` when the credential is no longer good, `.unreachable` or `.timedOut` when nobody
    ///   could be asked.
    func authorization(replacing rejected: Authorization?) async throws(StorageError) -> Authorization
}
