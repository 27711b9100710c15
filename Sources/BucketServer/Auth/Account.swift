/// A user of the Auth service.
struct Account: Codable, Sendable {
    let id: String
    /// Lower case.
    var email: String?
    var password: PasswordHash?
    var displayName: String?
    var photoURL: String?
    var isEmailVerified = false
    var isDisabled = false
    /// Signed in by a custom token once.
    var isCustom = false
    /// Claims that every token of the account carries: the text of a JSON object.
    var customClaims: String?
    let created: Microseconds
    var lastSignIn: Microseconds
    /// Tokens given out before this second are not accepted any more.
    var validSince: Int64 = 0

    init(id: String, at time: Microseconds) {
        self.id = id
        created = time
        lastSignIn = time
    }

    /// - Throws: `USER_DISABLED`.
    func checkEnabled() throws(APIError) {
        if isDisabled { throw .auth("USER_DISABLED") }
    }
}

extension Account {
    /// 28 letters and digits, as the service makes them.
    static func newID() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<28).compactMap { _ in letters.randomElement() })
    }

    /// - Throws: `INVALID_EMAIL`.
    static func canonical(email: String) throws(APIError) -> String {
        let halves = email.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard halves.count == 2, halves.allSatisfy({ !$0.isEmpty }), !email.utf8.contains(UInt8(ascii: " ")) else {
            throw .auth("INVALID_EMAIL")
        }
        return email.lowercased()
    }
}

extension APIError {
    /// A failure of the Auth service: `CODE`, or `CODE : explanation` (PROTOCOL 3.1).
    static func auth(_ code: String) -> APIError { .invalid(code) }
}
