import CCrypto

/// RFC 4648 base64 with padding.
func base64(_ bytes: [UInt8]) -> [UInt8] {
    let capacity = (bytes.count + 2) / 3 * 4
    // EVP_EncodeBlock ends its text with a NUL, which has room but is not counted.
    return unsafe [UInt8](unsafeUninitializedCapacity: capacity + 1) { buffer, count in
        count = Int(unsafe EVP_EncodeBlock(buffer.baseAddress, bytes, Int32(bytes.count)))
    }
}

/// The bytes of RFC 4648 base64; nil if `text` is none.
func base64Decoded(_ text: String) -> [UInt8]? {
    let text = Array(text.utf8)
    guard text.count % 4 == 0, !text.isEmpty else { return text.isEmpty ? [] : nil }
    let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
    var decoded = [UInt8](repeating: 0, count: text.count / 4 * 3)
    let length = unsafe EVP_DecodeBlock(&decoded, text, Int32(text.count))
    guard length >= 0 else { return nil }
    return Array(decoded.prefix(Int(length) - padding))
}

/// RFC 4648 base64url without padding, as in JSON Web Tokens.
func base64URL(_ bytes: [UInt8]) -> String {
    var text = base64(bytes)
    while text.last == UInt8(ascii: "=") { text.removeLast() }
    for index in text.indices {
        switch text[index] {
        case UInt8(ascii: "+"): text[index] = UInt8(ascii: "-")
        case UInt8(ascii: "/"): text[index] = UInt8(ascii: "_")
        default: break
        }
    }
    return String(decoding: text, as: UTF8.self)
}

/// The bytes of base64url, padded or not; nil if `text` is none.
func base64URLDecoded(_ text: some StringProtocol) -> [UInt8]? {
    var plain = text.utf8.filter { $0 != UInt8(ascii: "=") }.map { byte in
        switch byte {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: byte
        }
    }
    while plain.count % 4 != 0 { plain.append(UInt8(ascii: "=")) }
    return base64Decoded(String(decoding: plain, as: UTF8.self))
}
