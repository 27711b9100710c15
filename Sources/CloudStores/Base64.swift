/// Base64 with the standard alphabet, as checksums are written.
enum Base64 {
    /// nil when it is no base64. Padding may be missing.
    static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var end = text.count
        while end > 0, unsafe text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        guard text.count - end <= 2, end % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for index in 0..<end {
            guard let value = value(unsafe text[index]) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }

    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        unsafe Array(text.utf8).withUnsafeBytes { utf8 in unsafe decode(utf8) }
    }

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for digit in 0..<4 {
                let value = UInt8(truncatingIfNeeded: bits >> UInt32(18 - 6 * digit)) & 63
                text.append(digit <= group.count ? character(value) : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    private static func character(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }
}

extension UInt32 {
    /// A CRC32C as buckets write it: base64 of its four bytes, the most significant first.
    var checksumText: String {
        Base64.encode([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> UInt32($0)) })
    }

    init?(checksumBytes bytes: [UInt8]?) {
        guard let bytes, bytes.count == 4 else { return nil }
        self = bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
