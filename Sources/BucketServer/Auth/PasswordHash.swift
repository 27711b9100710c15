import CCrypto

/// A password as it is kept: PBKDF2 with SHA-256.
struct PasswordHash: Codable, Sendable {
    static let shortest = 6
    /// Few: this guards the passwords of tests.
    private static let rounds: Int32 = 10_000

    private let salt: [UInt8]
    private let hash: [UInt8]

    /// - Throws: `WEAK_PASSWORD`.
    init(_ password: String) throws(APIError) {
        guard password.count >= Self.shortest else {
            throw .auth("WEAK_PASSWORD : Password should be at least \(Self.shortest) characters")
        }
        salt = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        hash = Self.derive(password, salt)
    }

    func matches(_ password: String) -> Bool { Self.derive(password, salt) == hash }

    private static func derive(_ password: String, _ salt: [UInt8]) -> [UInt8] {
        let text = Array(password.utf8)
        return unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            count = 32
            _ = unsafe text.withUnsafeBytes { text in
                unsafe PKCS5_PBKDF2_HMAC(
                    text.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(text.count), salt, Int32(salt.count),
                    rounds, EVP_sha256(), 32, buffer.baseAddress)
            }
        }
    }
}
