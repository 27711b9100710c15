/// Comparison, arithmetic and access to parts.
extension RulesEvaluator {
    mutating func apply(
        _ symbol: RulesExpression.Operator, _ left: RulesValue, _ right: RulesValue, at position: RulesPosition
    ) throws(RulesEvaluationError) -> RulesValue {
        switch symbol {
        case .equal: .bool(try equal(left, right, at: position))
        case .notEqual: .bool(!(try equal(left, right, at: position)))
        case .isIn: .bool(try contains(right, left, at: position))
        case .less: .bool(try isLess(left, right, symbol, at: position))
        case .greater: .bool(try isLess(right, left, symbol, at: position))
        case .lessOrEqual: .bool(try isLess(left, right, orEqual: true, symbol, at: position))
        case .greaterOrEqual: .bool(try isLess(right, left, orEqual: true, symbol, at: position))
        case .add, .subtract, .multiply, .divide, .remainder: try compute(symbol, left, right, at: position)
        }
    }

    // MARK: Equality

    /// Numbers compare across types, strings byte by byte; values of different types are not equal.
    mutating func equal(
        _ left: RulesValue, _ right: RulesValue, at position: RulesPosition
    ) throws(RulesEvaluationError) -> Bool {
        try spend(1, at: position)
        switch (left, right) {
        case (.string(let left), .string(let right)):
            try spend(min(left.utf8.count, right.utf8.count) / 16, at: position)
            return left.utf8.elementsEqual(right.utf8)
        case (.integer(let left), .float(let right)), (.float(let right), .integer(let left)):
            return Double(left) == right
        case (.list(let left), .list(let right)): return try equal(left, right, at: position)
        case (.set(let left), .set(let right)):
            guard left.count == right.count else { return false }
            for item in left {
                guard try contains(right, item, at: position) else { return false }
            }
            return true
        case (.map(let left), .map(let right)):
            guard left.count == right.count else { return false }
            for (key, value) in left {
                guard let other = right[key], try equal(value, other, at: position) else { return false }
            }
            return true
        case (.path(let left), .path(let right)):
            return left.segments.count == right.segments.count
                && zip(left.segments, right.segments).allSatisfy { isSame($0.text, $1.text) }
        case (.unknown, _), (_, .unknown):
            let message = "a part of this is not known before the upload ends"
            throw RulesEvaluationError(message: message, position: position, isOpen: true)
        default: return left == right
        }
    }

    private func isSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return false }
        return left.utf8.elementsEqual(right.utf8)
    }

    private mutating func equal(
        _ left: [RulesValue], _ right: [RulesValue], at position: RulesPosition
    ) throws(RulesEvaluationError) -> Bool {
        guard left.count == right.count else { return false }
        for (left, right) in zip(left, right) {
            guard try equal(left, right, at: position) else { return false }
        }
        return true
    }

    mutating func contains(
        _ items: [RulesValue], _ value: RulesValue, at position: RulesPosition
    ) throws(RulesEvaluationError) -> Bool {
        for item in items {
            if try equal(item, value, at: position) { return true }
        }
        return false
    }

    private mutating func contains(
        _ container: RulesValue, _ value: RulesValue, at position: RulesPosition
    ) throws(RulesEvaluationError) -> Bool {
        switch (container, value) {
        case (.list(let items), _), (.set(let items), _): return try contains(items, value, at: position)
        case (.map(let entries), .string(let key)): return entries[key] != nil
        default: throw error("cannot look for \(value.typeName) in \(container.typeName)", position)
        }
    }

    // MARK: Order

    private mutating func isLess(
        _ left: RulesValue, _ right: RulesValue, orEqual: Bool = false, _ symbol: RulesExpression.Operator,
        at position: RulesPosition
    ) throws(RulesEvaluationError) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): return orEqual ? left <= right : left < right
        case (.string(let left), .string(let right)):
            try spend(min(left.utf8.count, right.utf8.count) / 16, at: position)
            return left.utf8.lexicographicallyPrecedes(right.utf8)
                || (orEqual && left.utf8.elementsEqual(right.utf8))
        case (.time(let left), .time(let right)): return orEqual ? left <= right : left < right
        case (.duration(let left), .duration(let right)): return orEqual ? left <= right : left < right
        default:
            guard let left = left.number, let right = right.number else {
                throw error("cannot compare \(left.typeName) and \(right.typeName) by \(symbol.rawValue)", position)
            }
            return orEqual ? left <= right : left < right
        }
    }

    // MARK: Arithmetic

    func negative(_ value: RulesValue, at position: RulesPosition) throws(RulesEvaluationError) -> RulesValue {
        switch value {
        case .integer(let value):
            guard value != .min else { throw error("the integer overflows", position) }
            return .integer(-value)
        case .float(let value): return .float(-value)
        default: throw error("cannot negate \(value.typeName)", position)
        }
    }

    private mutating func compute(
        _ symbol: RulesExpression.Operator, _ left: RulesValue, _ right: RulesValue, at position: RulesPosition
    ) throws(RulesEvaluationError) -> RulesValue {
        if case .integer(let left) = left, case .integer(let right) = right {
            return .integer(try compute(symbol, left, right, at: position))
        }
        if let left = left.number, let right = right.number { return .float(compute(symbol, left, right)) }
        if case .string(let left) = left, case .string(let right) = right, symbol == .add {
            return try text(left + right, at: position)
        }
        guard let result = computeTime(symbol, left, right) else {
            throw error("cannot compute \(left.typeName) \(symbol.rawValue) \(right.typeName)", position)
        }
        guard let result else { throw error("the time is out of range", position) }
        return result
    }

    private func compute(
        _ symbol: RulesExpression.Operator, _ left: Int64, _ right: Int64, at position: RulesPosition
    ) throws(RulesEvaluationError) -> Int64 {
        let (result, overflow): (Int64, Bool)
        switch symbol {
        case .add: (result, overflow) = left.addingReportingOverflow(right)
        case .subtract: (result, overflow) = left.subtractingReportingOverflow(right)
        case .multiply: (result, overflow) = left.multipliedReportingOverflow(by: right)
        case .divide:
            guard right != 0 else { throw error("division by zero", position) }
            (result, overflow) = left.dividedReportingOverflow(by: right)
        default:
            guard right != 0 else { throw error("division by zero", position) }
            (result, overflow) = left.remainderReportingOverflow(dividingBy: right)
        }
        guard !overflow else { throw error("the integer overflows", position) }
        return result
    }

    private func compute(_ symbol: RulesExpression.Operator, _ left: Double, _ right: Double) -> Double {
        switch symbol {
        case .add: left + right
        case .subtract: left - right
        case .multiply: left * right
        case .divide: left / right
        default: left.truncatingRemainder(dividingBy: right)
        }
    }

    /// Nil if the operator has no meaning for these types; nil inside if the result is out of range.
    private func computeTime(
        _ symbol: RulesExpression.Operator, _ left: RulesValue, _ right: RulesValue
    ) -> RulesValue?? {
        switch (left, symbol, right) {
        case (.time(let time), .add, .duration(let span)), (.duration(let span), .add, .time(let time)):
            .some(RulesTime(nanoseconds: time.nanoseconds + span.nanoseconds).map { .time($0) })
        case (.time(let time), .subtract, .duration(let span)):
            .some(RulesTime(nanoseconds: time.nanoseconds - span.nanoseconds).map { .time($0) })
        case (.time(let left), .subtract, .time(let right)):
            .some(RulesDuration(nanoseconds: left.nanoseconds - right.nanoseconds).map { .duration($0) })
        case (.duration(let left), .add, .duration(let right)):
            .some(RulesDuration(nanoseconds: left.nanoseconds + right.nanoseconds).map { .duration($0) })
        case (.duration(let left), .subtract, .duration(let right)):
            .some(RulesDuration(nanoseconds: left.nanoseconds - right.nanoseconds).map { .duration($0) })
        default: nil
        }
    }

    // MARK: Access

    /// `a.f`, `a[i]`, `a[i:j]`.
    mutating func access(
        _ expression: RulesExpression, in scope: RulesScope
    ) throws(RulesEvaluationError) -> RulesValue {
        let position = expression.position
        switch expression.kind {
        case .member(let base, let name):
            return try field(name, of: try value(of: base, in: scope), at: position)
        case .index(let base, let index):
            let base = try value(of: base, in: scope)
            return try element(try value(of: index, in: scope), of: base, at: position)
        case .range(let base, let from, let to):
            let base = try value(of: base, in: scope)
            let bounds = try values(of: [from, to], in: scope)
            return try slice(base, bounds, at: position)
        default: preconditionFailure("not an access: \(expression.kind)")
        }
    }

    private func field(
        _ name: String, of value: RulesValue, at position: RulesPosition
    ) throws(RulesEvaluationError) -> RulesValue {
        switch value {
        case .map(let entries):
            guard let entry = entries[name] else { throw error("the map has no key '\(name)'", position) }
            return entry
        case .path(let path):
            guard let text = path.segments.first(where: { $0.name == name })?.text else {
                throw error("the path has no bound part '\(name)'", position)
            }
            return .string(text)
        default: throw error("\(value.typeName) has no field '\(name)'", position)
        }
    }

    private mutating func element(
        _ index: RulesValue, of value: RulesValue, at position: RulesPosition
    ) throws(RulesEvaluationError) -> RulesValue {
        switch (value, index) {
        case (.map, .string(let name)), (.path, .string(let name)): return try field(name, of: value, at: position)
        case (.list(let items), .integer(let index)):
            return items[try offset(index, below: items.count, at: position)]
        case (.path(let path), .integer(let index)):
            let segment = path.segments[try offset(index, below: path.segments.count, at: position)]
            guard let text = segment.text else { throw error("the path's part \(index) is not bound", position) }
            return .string(text)
        case (.string, .integer(let index)) where index < .max:
            return try slice(value, [.integer(index), .integer(index + 1)], at: position)
        default: throw error("cannot take element \(index.typeName) of \(value.typeName)", position)
        }
    }

    private func offset(
        _ index: Int64, below count: Int, at position: RulesPosition
    ) throws(RulesEvaluationError) -> Int {
        guard (0..<Int64(count)).contains(index) else {
            throw error("the index \(index) is not below \(count)", position)
        }
        return Int(index)
    }

    /// A string's parts are Unicode characters in the sense of code points.
    private mutating func slice(
        _ value: RulesValue, _ bounds: [RulesValue], at position: RulesPosition
    ) throws(RulesEvaluationError) -> RulesValue {
        guard case .integer(let from) = bounds[0], case .integer(let to) = bounds[1] else {
            throw error("the bounds of a range must be ints", position)
        }
        func check(_ count: Int) throws(RulesEvaluationError) -> Range<Int> {
            guard from >= 0, from <= to, to <= Int64(count) else {
                throw error("the range [\(from):\(to)] is not inside 0 to \(count)", position)
            }
            return Int(from)..<Int(to)
        }
        switch value {
        case .list(let items): return .list(Array(items[try check(items.count)]))
        case .string(let text):
            try spend(text.utf8.count / 16, at: position)
            let scalars = text.unicodeScalars
            let range = try check(scalars.count)
            return .string(String(String.UnicodeScalarView(scalars.dropFirst(range.lowerBound).prefix(range.count))))
        default: throw error("cannot take a range of \(value.typeName)", position)
        }
    }
}

extension RulesValue {
    /// The value of a number of either type.
    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .float(let value): value
        default: nil
        }
    }
}
