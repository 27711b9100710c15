import FoundationEssentials

/// A JSON document of any shape, as clients send them: keys may be unknown, null, or of the wrong type.
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Reads a request body; an empty one is an empty object.
    static func parse(_ bytes: [UInt8]) throws(APIError) -> JSONValue {
        guard bytes.contains(where: { $0 > 0x20 }) else { return .object([:]) }
        do {
            return try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
        } catch {
            throw APIError(status: 400, reason: "parseError", message: "The request body is not valid JSON.")
        }
    }

    /// Reads a request body that must be an object; Google's own Go client says `null` for an empty one.
    static func parseObject(_ bytes: [UInt8]) throws(APIError) -> [String: JSONValue] {
        switch try parse(bytes) {
        case .object(let members): return members
        case .null: return [:]
        default: throw APIError(status: 400, reason: "parseError", message: "The request body is not a JSON object.")
        }
    }

    /// A scalar as text: clients send sizes and generations as strings or numbers.
    var text: String? {
        switch self {
        case .string(let text): text
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .bool(let value): value ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    var members: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}

extension JSONValue: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }
}
