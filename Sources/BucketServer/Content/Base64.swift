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
