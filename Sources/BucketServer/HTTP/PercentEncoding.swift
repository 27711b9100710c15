/// Undoes `%XX` once, byte by byte. A `%` that starts no escape stands for itself.
/// - Parameter plusIsSpace: true in query strings, false in paths.
func percentDecoded(_ text: some Collection<UInt8>, plusIsSpace: Bool) -> [UInt8] {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(text.count)
    var index = text.startIndex
    while index != text.endIndex {
        let byte = text[index]
        index = text.index(after: index)
        if byte == UInt8(ascii: "+"), plusIsSpace {
            decoded.append(UInt8(ascii: " "))
        } else if byte == UInt8(ascii: "%"), let value = escapeValue(text[index...]) {
            decoded.append(value)
            index = text.index(index, offsetBy: 2)
        } else {
            decoded.append(byte)
        }
    }
    return decoded
}

/// Escapes everything but RFC 3986's unreserved characters.
func percentEncoded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var encoded: [UInt8] = []
    for byte in bytes {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            encoded.append(byte)
        default:
            encoded.append(UInt8(ascii: "%"))
            encoded.append(upperHexDigit(byte >> 4))
            encoded.append(upperHexDigit(byte & 15))
        }
    }
    return encoded
}

private func escapeValue(_ text: some Collection<UInt8>) -> UInt8? {
    var digits = text.prefix(2).makeIterator()
    guard let high = digits.next().flatMap(hexValue), let low = digits.next().flatMap(hexValue) else { return nil }
    return high << 4 | low
}

private func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
}

private func upperHexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
}
