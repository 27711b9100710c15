import FoundationEssentials

/// The strings, numbers and objects in a JSON object: all that credentials are made of.
struct JSONFields: Sendable {
    private let values: [String: Value]

    private init(_ values: [String: Value]) { self.values = values }

    /// nil when `bytes` are no JSON object.
    init?(_ bytes: [UInt8]) {
        guard let values = try? JSONDecoder().decode([String: Value].self, from: Data(bytes)) else { return nil }
        self.values = values
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// nil when absent, empty or no string.
    func string(_ name: String) -> String? {
        guard case .string(let text)? = values[name], !text.isEmpty else { return nil }
        return text
    }

    /// A number, or a string that holds one: services differ.
    func number(_ name: String) -> Double? {
        switch values[name] {
        case .number(let number): number
        case .string(let text): Double(text)
        case .object, .boolean, .other, nil: nil
        }
    }

    func isTrue(_ name: String) -> Bool {
        if case .boolean(true)? = values[name] { true } else { false }
    }

    /// nil when absent or no object.
    func object(_ name: String) -> JSONFields? {
        guard case .object(let values)? = values[name] else { return nil }
        return JSONFields(values)
    }

    private enum Value: Decodable, Sendable {
        case string(String)
        case number(Double)
        case object([String: Value])
        case boolean(Bool)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let boolean = try? container.decode(Bool.self) {
                self = .boolean(boolean)
            } else if let text = try? container.decode(String.self) {
                self = .string(text)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let values = try? container.decode([String: Value].self) {
                self = .object(values)
            } else {
                self = .other
            }
        }
    }
}
