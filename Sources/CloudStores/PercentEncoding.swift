/// Percent-encoding for URL segments and query values: RFC 3986's unreserved characters stay, every other byte becomes
/// `%XX` (PROTOCOL: escaping of names). `/` is encoded too, so that a whole object name is one segment.
enum PercentEncoding {
    static func encode(_ text: String) -> String { encode(Array(text.utf8)) }

    static func encode(_ bytes: [UInt8]) -> String {
        let escaped = bytes.count { !isUnreserved($0) }
        return unsafe String(unsafeUninitializedCapacity: bytes.count + 2 * escaped) { buffer in
            var position = 0
            for byte in bytes {
                if isUnreserved(byte) {
                    unsafe buffer[position] = byte
                    position += 1
                } else {
                    unsafe buffer[position] = UInt8(ascii: "%")
                    unsafe buffer[position + 1] = hexDigit(byte >> 4)
                    unsafe buffer[position + 2] = hexDigit(byte & 15)
                    position += 3
                }
            }
            return position
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
