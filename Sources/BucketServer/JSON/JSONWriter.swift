/// Writes JSON text straight into bytes: answers are built from stored UTF-8, without strings or dictionaries between.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    init(capacity: Int = 1024) { bytes.reserveCapacity(capacity) }

    mutating func object(_ key: String? = nil, _ members: (inout JSONWriter) -> Void) {
        open(key, UInt8(ascii: "{"))
        members(&self)
        close(UInt8(ascii: "}"))
    }

    mutating func array(_ key: String? = nil, _ elements: (inout JSONWriter) -> Void) {
        open(key, UInt8(ascii: "["))
        elements(&self)
        close(UInt8(ascii: "]"))
    }

    mutating func string(_ key: String? = nil, _ value: String) {
        begin(key)
        quoted(value.utf8)
    }

    /// - Parameter value: valid UTF-8.
    mutating func string(_ key: String? = nil, utf8 value: [UInt8]) {
        begin(key)
        quoted(value)
    }

    /// A number in quotes, as the API writes every 64-bit value.
    mutating func quotedNumber(_ key: String, _ value: Int64) {
        begin(key)
        bytes.append(UInt8(ascii: "\""))
        decimal(value)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func number(_ key: String? = nil, _ value: Int64) {
        begin(key)
        decimal(value)
    }

    mutating func bool(_ key: String, _ value: Bool) {
        begin(key)
        bytes.append(contentsOf: value ? "true".utf8 : "false".utf8)
    }

    mutating func null(_ key: String? = nil) {
        begin(key)
        bytes.append(contentsOf: "null".utf8)
    }

    /// Text that is JSON already.
    mutating func raw(_ key: String? = nil, _ json: [UInt8]) {
        begin(key)
        bytes.append(contentsOf: json)
    }

    mutating func value(_ name: String? = nil, _ value: JSONValue) {
        if let name { key(name) }
        switch value {
        case .null: null()
        case .bool(let value): raw(nil, Array((value ? "true" : "false").utf8))
        case .integer(let value): number(nil, value)
        case .number(let value): raw(nil, Array(value.description.utf8))
        case .string(let text): string(nil, text)
        case .array(let elements):
            array { json in
                for element in elements { json.value(nil, element) }
            }
        case .object(let members):
            object { json in
                for (name, value) in members.sorted(by: { $0.key < $1.key }) { json.value(name, value) }
            }
        }
    }

    /// A key known only when it is written; one value must follow.
    mutating func key(_ name: String) {
        separate()
        quoted(name.utf8)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func open(_ key: String?, _ bracket: UInt8) {
        begin(key)
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func begin(_ key: String?) {
        separate()
        guard let key else { return }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: key.utf8)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func decimal(_ value: Int64) { bytes.append(contentsOf: String(value).utf8) }

    private mutating func quoted(_ text: some Sequence<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(hexDigit(byte >> 4))
                bytes.append(hexDigit(byte & 15))
            default:
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

/// The lower-case hexadecimal digit of 0...15.
func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}
