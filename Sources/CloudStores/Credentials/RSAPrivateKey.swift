import CCrypto

/// Owner of an RSA private key in libcrypto's memory. It does not change after its creation, so any thread may sign.
@safe
final class RSAPrivateKey: @unchecked Sendable {
    private let key: OpaquePointer

    /// nil when `pem` is no unencrypted RSA private key (PKCS#8 or PKCS#1).
    init?(pem: String) {
        // The parser's complaints are not kept for the next caller of libcrypto.
        defer { ERR_clear_error() }
        // libcrypto reads the text where it is, so it must stay there for as long.
        let key = unsafe Array(pem.utf8).withUnsafeBytes { text -> OpaquePointer? in
            guard let source = unsafe BIO_new_mem_buf(text.baseAddress, Int32(clamping: text.count)) else { return nil }
            defer { unsafe BIO_free(source) }
            // Without a callback of ours it would ask for a passphrase on the terminal.
            return unsafe PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key = unsafe key else { return nil }
        guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA else {
            unsafe EVP_PKEY_free(key)
            return nil
        }
        unsafe self.key = key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// RS256: PKCS #1 v1.5 over SHA-256. nil when libcrypto refuses.
    func signature(of message: [UInt8]) -> [UInt8]? {
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer {
            unsafe EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else { return nil }
        var size = Int(unsafe EVP_PKEY_get_size(key))
        var signature = [UInt8](repeating: 0, count: size)
        guard unsafe EVP_DigestSign(context, &signature, &size, message, message.count) == 1 else { return nil }
        return Array(signature[..<size])
    }
}
