/// Who makes a Firebase request, by its `Authorization` (PROTOCOL 5.2).
enum Caller: Sendable, Equatable, Codable {
    /// The administrator: rules do not count.
    case owner
    /// - Parameter claims: the ID token's payload, JSON text.
    case user(claims: String)
    case nobody

    /// The scheme does not count: `Firebase X` and `Bearer X` are the same. What is no token is nobody's.
    /// - Throws: 401 when the token's time is over. A token issued at 0 is a test's own, made without an Auth service;
    ///   it never ends.
    init(_ request: Request, at time: Microseconds) throws(APIError) {
        let words = request.headers["Authorization"]?.split(separator: " ") ?? []
        guard words.count > 1 else {
            self = .nobody
            return
        }
        guard words[1] != "owner" else {
            self = .owner
            return
        }
        let parts = words[1].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = base64URLDecoded(parts[1]),
            let claims = try? JSONValue.parse(payload).members
        else {
            self = .nobody
            return
        }
        if claims["iat"] != .integer(0), let end = claims["exp"]?.number, end * 1_000_000 <= Double(time) {
            throw APIError(status: 401, reason: "authError", message: "The ID token has expired.")
        }
        self = .user(claims: String(decoding: payload, as: UTF8.self))
    }

    /// `request.auth`; nil when nobody is signed in.
    var auth: RulesValue? {
        guard case .user(let text) = self, let claims = try? JSONValue.parse(Array(text.utf8)) else { return nil }
        let uid = claims.members?["user_id"] ?? claims.members?["sub"] ?? .null
        return .map(["uid": RulesValue(uid), "token": RulesValue(claims)])
    }
}

extension JSONValue {
    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}

extension RulesValue {
    init(_ value: JSONValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .integer(value)
            case .number(let value): .float(value)
            case .string(let value): .string(value)
            case .array(let elements): .list(elements.map(RulesValue.init))
            case .object(let members): .map(members.mapValues(RulesValue.init))
            }
    }
}
