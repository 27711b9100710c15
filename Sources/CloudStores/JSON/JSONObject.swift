/// A JSON object under construction: the small bodies that requests carry.
struct JSONObject: Sendable {
    private var text: [UInt8] = [UInt8(ascii: "{")]

    /// The finished text.
    var bytes: [UInt8] { text + [UInt8(ascii: "}")] }
    var isEmpty: Bool { text.count == 1 }

    mutating func set(_ key: String, _ value: String) {
        begin(key)
        append(quoting: value.utf8)
    }

    /// - Parameter value: UTF-8; anything else makes JSON that a server refuses.
    mutating func set(_ key: String, bytes value: [UInt8]) {
        begin(key)
        append(quoting: value)
    }

    mutating func set(_ key: String, text value: String?) {
        if let value { set(key, value) }
    }

    /// Numbers of 64 bits travel as strings (PROTOCOL: object resource).
    mutating func set(_ key: String, number value: Int64) { set(key, String(value)) }

    mutating func set(_ key: String, _ value: Bool) {
        begin(key)
        text.append(contentsOf: (value ? "true" : "false").utf8)
    }

    mutating func setNull(_ key: String) {
        begin(key)
        text.append(contentsOf: "null".utf8)
    }

    mutating func set(_ key: String, _ value: JSONObject) {
        begin(key)
        text.append(contentsOf: value.bytes)
    }

    mutating func set(_ key: String, _ values: [JSONObject]) {
        begin(key)
        text.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text.append(contentsOf: value.bytes)
        }
        text.append(UInt8(ascii: "]"))
    }

    private mutating func begin(_ key: String) {
        if !isEmpty { text.append(UInt8(ascii: ",")) }
        append(quoting: key.utf8)
        text.append(UInt8(ascii: ":"))
    }

    private mutating func append(quoting value: some Sequence<UInt8>) {
        text.append(UInt8(ascii: "\""))
        for byte in value {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 0..<0x20:
                text.append(contentsOf: "\\u00".utf8)
                text.append(UInt8(ascii: "0") + byte >> 4)
                text.append(byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "a") + byte & 15 - 10)
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}
