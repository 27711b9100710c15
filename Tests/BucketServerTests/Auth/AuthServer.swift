import FoundationEssentials

/// What tests say to a server's Auth side.
extension TestServer {
    func auth(_ call: String, _ json: String, key: String = "?key=any", _ headers: [(String, String)] = []) -> Answer {
        self.call("POST", "/identitytoolkit.googleapis.com/v1/accounts:\(call)\(key)", json: json, headers)
    }

    func refresh(_ form: String) -> Answer {
        send(
            "POST", "/securetoken.googleapis.com/v1/token?key=any",
            [("Content-Type", "application/x-www-form-urlencoded")], body: Array(form.utf8))
    }

    /// A new user's ID token.
    func signedUp(_ email: String = "a@example.com") -> AuthAnswer {
        auth("signUp", #"{"email":"\#(email)","password":"secret12","returnSecureToken":true}"#).signIn
            ?? AuthAnswer()
    }
}

/// The members that a sign-in or a refresh answers with; a refresh spells them with underscores.
struct AuthAnswer: Decodable {
    struct User: Decodable {
        let localId: String
        let email: String?
        let disabled: Bool
    }

    var kind: String?
    var localId: String?
    var email: String?
    var registered: Bool?
    var isNewUser: Bool?
    var idToken: String?
    var refreshToken: String?
    var expiresIn: String?
    var accessToken: String?
    var tokenType: String?
    var userId: String?
    var projectId: String?
    var users: [User]?

    init() {}
}

/// What an ID token says of itself and its user.
struct TokenClaims: Decodable {
    struct Firebase: Decodable {
        let identities: [String: [String]]
        let signInProvider: String
    }

    let iss: String
    let aud: String
    let sub: String
    let userId: String
    let authTime: Int
    let iat: Int
    let exp: Int
    let email: String?
    let emailVerified: Bool?
    let providerId: String?
    let admin: Bool?
    let firebase: Firebase

    init?(_ token: String?) {
        guard let token else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].isEmpty else { return nil }
        let text = parts[1].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        let padded = String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: padded),
            let claims = try? snakeCaseDecoder.decode(TokenClaims.self, from: data)
        else { return nil }
        self = claims
    }
}

extension Answer {
    var signIn: AuthAnswer? { status == 200 ? try? snakeCaseDecoder.decode(AuthAnswer.self, from: Data(body)) : nil }
}

func base64URL(_ text: String) -> String {
    String(Data(text.utf8).base64EncodedString().filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
}

private var snakeCaseDecoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
}
