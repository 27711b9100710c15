import FoundationEssentials

/// A signed-in user, as it is kept between runs. Holds a secret: whoever has the refresh token is that user.
package struct FirebaseIdentity: Sendable, Equatable, Codable {
    package var apiKey: String
    /// The root of an emulator of Firebase Auth; nil: Google's services.
    package var emulator: String?
    package var projectID: String?
    package var uid: String
    package var email: String?
    /// `password`, `anonymous`, `custom` …
    package var provider: String?
    var refreshToken: String
}

/// What an ID token says of its user. Only for show: servers check tokens, we do not.
struct IDToken: Sendable, Equatable {
    let uid: String?
    let email: String?
    let projectID: String?
    let provider: String?

    /// nil unless `text` is a JWT.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let standard = parts.count == 3 ? parts[1].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 } : []
        guard let bytes = Base64.decode(String(standard)), let claims = JSONFields(bytes) else { return nil }
        uid = claims.string("user_id") ?? claims.string("sub")
        email = claims.string("email")
        projectID = claims.string("aud")
        provider = claims.object("firebase")?.string("sign_in_provider")
    }
}
