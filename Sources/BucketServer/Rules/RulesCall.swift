/// A call of something built in: its name, for errors, and its arguments, which are asked for by type.
struct RulesCall {
    let name: String
    let arguments: [RulesValue]
    let position: RulesPosition

    func error(_ message: String) -> RulesEvaluationError {
        RulesEvaluationError(message: "\(name)() \(message)", position: position)
    }

    /// - Throws: when there are not `count` arguments.
    func takes(_ count: Int) throws(RulesEvaluationError) {
        guard arguments.count == count else {
            throw error("takes \(count) \(count == 1 ? "argument" : "arguments"), not \(arguments.count)")
        }
    }

    func string(_ index: Int = 0) throws(RulesEvaluationError) -> String {
        guard case .string(let value) = arguments[index] else { throw wrongType(index, "a string") }
        return value
    }

    func integer(_ index: Int = 0) throws(RulesEvaluationError) -> Int64 {
        guard case .integer(let value) = arguments[index] else { throw wrongType(index, "an int") }
        return value
    }

    func number(_ index: Int = 0) throws(RulesEvaluationError) -> Double {
        guard let value = arguments[index].number else { throw wrongType(index, "a number") }
        return value
    }

    func map(_ index: Int = 0) throws(RulesEvaluationError) -> [String: RulesValue] {
        guard case .map(let value) = arguments[index] else { throw wrongType(index, "a map") }
        return value
    }

    func set(_ index: Int = 0) throws(RulesEvaluationError) -> [RulesValue] {
        guard case .set(let items) = arguments[index] else { throw wrongType(index, "a set") }
        return items
    }

    func list(_ index: Int = 0) throws(RulesEvaluationError) -> [RulesValue] {
        guard case .list(let items) = arguments[index] else { throw wrongType(index, "a list") }
        return items
    }

    func listOrSet(_ index: Int = 0) throws(RulesEvaluationError) -> [RulesValue] {
        switch arguments[index] {
        case .list(let items), .set(let items): return items
        default: throw wrongType(index, "a list or a set")
        }
    }

    func duration(_ index: Int = 0) throws(RulesEvaluationError) -> RulesDuration {
        guard case .duration(let value) = arguments[index] else { throw wrongType(index, "a duration") }
        return value
    }

    /// Bytes, or a string's in UTF-8.
    func bytes(_ index: Int = 0) throws(RulesEvaluationError) -> [UInt8] {
        switch arguments[index] {
        case .bytes(let bytes): return bytes
        case .string(let text): return Array(text.utf8)
        default: throw wrongType(index, "bytes or a string")
        }
    }

    func wrongType(_ index: Int, _ expected: String) -> RulesEvaluationError {
        error("expects \(expected), not \(arguments[index].typeName)")
    }

    var unknown: RulesEvaluationError {
        RulesEvaluationError(message: "there is no function \(name)()", position: position)
    }
}
