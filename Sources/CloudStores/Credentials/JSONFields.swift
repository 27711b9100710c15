import FoundationEssentials

/// The strings and numbers at the top of a JSON object: all that credentials are made of.
struct JSONFields: Sendable {
    private let values: [String: Value]

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
        case .other, nil: nil
        }
    }

    private enum Value: Decodable, Sendable {
        case string(String)
        case number(Double)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .string(text)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .other
            }
        }
    }
}
