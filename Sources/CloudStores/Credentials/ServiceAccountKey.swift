import FoundationEssentials
import ObjectStore

/// A service account's key: signs a statement of who it is and trades it for a token (RFC 7523).
struct ServiceAccountKey: TokenIssuer {
    /// Changing an object's metadata needs full control; reading and writing alone would do with less.
    static let scope = "https://www.googleapis.com/auth/devstorage.full_control"
    /// Google takes statements for this audience, whatever service the file names.
    static let audience = TokenService.googleEndpoint

    let email: String
    private let keyID: String?
    private let key: RSAPrivateKey
    private let endpoint: String

    init(_ file: CredentialFile) throws(CredentialError) {
        email = try file.required("client_email")
        keyID = file.string("private_key_id")
        endpoint = try file.tokenEndpoint()
        guard let key = RSAPrivateKey(pem: try file.required("private_key")) else {
            throw CredentialError(
                "\(file.path): the field \"private_key\" is no RSA private key in PEM form; download the key again")
        }
        self.key = key
    }

    func token(by service: TokenService) async throws(StorageError) -> AccessToken {
        guard let assertion = assertion(at: service.clock.unixTime()) else {
            throw StorageError(.unauthenticated, operation: TokenService.operation, message: "the key cannot sign")
        }
        let form = [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion)]
        return try await service.token(posting: form, to: endpoint)
    }

    /// A signed JWT that is good for an hour; nil when the key cannot sign.
    /// - Parameter time: seconds since 1970.
    func assertion(at time: Int64) -> String? {
        let header = Header(kid: keyID)
        let claims = Claims(iss: email, iat: time, exp: time + 3_600)
        guard let header = try? JSONEncoder().encode(header), let claims = try? JSONEncoder().encode(claims) else {
            return nil
        }
        let statement = Self.base64URL(header) + "." + Self.base64URL(claims)
        return key.signature(of: Array(statement.utf8)).map { statement + "." + Self.base64URL(Data($0)) }
    }

    private struct Header: Encodable {
        let alg = "RS256"
        let typ = "JWT"
        let kid: String?
    }

    private struct Claims: Encodable {
        let iss: String
        let scope = ServiceAccountKey.scope
        let aud = ServiceAccountKey.audience
        let iat: Int64
        let exp: Int64
    }

    /// Base64 in the alphabet of URLs, without padding (RFC 7515).
    private static func base64URL(_ bytes: Data) -> String {
        let text = bytes.base64EncodedString().prefix { $0 != "=" }
        return String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }
}
