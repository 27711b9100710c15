/// Expressions, loosest operators first: `?:`, `||`, `&&`, `== !=`, `in is`, `< <= > >=`, `+ -`, `* / %`, `! -`, and
/// what follows a value: `a[i] a() a.f`. That is the documented order.
extension RulesParser {
    mutating func readExpression() throws(RulesSyntaxError) -> RulesExpression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Limit.expressionDepth else { throw tooDeep(at: token.position) }
        let position = token.position
        let condition = try readAny()
        guard try take("?") else { return condition }
        let then = try readExpression()
        try expect(":")
        let otherwise = try readExpression()
        return try node(.conditional(condition, then: then, otherwise: otherwise), at: position)
    }

    private mutating func readAny() throws(RulesSyntaxError) -> RulesExpression {
        let position = token.position
        var parts = [try readAll()]
        while try take("||") { parts.append(try readAll()) }
        return parts.count == 1 ? parts[0] : try node(.any(parts), at: position)
    }

    private mutating func readAll() throws(RulesSyntaxError) -> RulesExpression {
        let position = token.position
        var parts = [try readBinary(level: 0)]
        while try take("&&") { parts.append(try readBinary(level: 0)) }
        return parts.count == 1 ? parts[0] : try node(.all(parts), at: position)
    }

    /// The operators between two values and `is`, those that bind tighter in later lines.
    private static let levels: [[String]] = [
        ["==", "!="], ["in", "is"], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/", "%"],
    ]

    private static let levelOfOperator: [String: Int] = levels.enumerated().reduce(into: [:]) { result, line in
        for symbol in line.element { result[symbol] = line.offset }
    }

    /// An operand and the operators behind it that bind as tightly as `level` or tighter.
    private mutating func readBinary(level: Int) throws(RulesSyntaxError) -> RulesExpression {
        let position = token.position
        var left = try readUnary()
        while let symbol = token.text, let found = Self.levelOfOperator[symbol], found >= level {
            try advance()
            if let symbol = RulesExpression.Operator(rawValue: symbol) {
                left = try node(.binary(symbol, left, try readBinary(level: found + 1)), at: position)
            } else {
                left = try node(.hasType(left, try readTypeName()), at: position)
            }
        }
        return left
    }

    private mutating func readTypeName() throws(RulesSyntaxError) -> String {
        let names = [
            "bool", "bytes", "duration", "float", "int", "latlng", "list", "map", "map_diff", "number", "path", "set",
            "string", "timestamp", "null",
        ]
        guard case .identifier(let name) = token.kind, names.contains(name) else {
            throw unexpected("a type after 'is': \(names.joined(separator: ", "))")
        }
        try advance()
        return name
    }

    private mutating func readUnary() throws(RulesSyntaxError) -> RulesExpression {
        guard isSymbol("!") || isSymbol("-") else { return try readPostfix() }
        let position = token.position
        depth += 1
        defer { depth -= 1 }
        guard depth <= Limit.expressionDepth else { throw tooDeep(at: position) }
        if try take("!") { return try node(.not(try readUnary()), at: position) }
        try advance()
        if case .integer(1 << 63) = token.kind {
            try advance()
            return try readPostfix(of: RulesExpression(.literal(.integer(.min)), at: position))
        }
        return try node(.negative(try readUnary()), at: position)
    }

    private mutating func readPostfix() throws(RulesSyntaxError) -> RulesExpression {
        try readPostfix(of: try readPrimary())
    }

    private mutating func readPostfix(of primary: RulesExpression) throws(RulesSyntaxError) -> RulesExpression {
        var value = primary
        while true {
            let position = token.position
            if try take(".") {
                // A field may be called `match` or `in`.
                guard case .identifier(let name) = token.kind else {
                    throw unexpected("the name of a field or method")
                }
                try advance()
                let kind: RulesExpression.Kind =
                    isSymbol("(") ? .method(value, name, try readArguments()) : .member(value, name)
                value = try node(kind, at: position)
            } else if try take("[") {
                let first = try readExpression()
                let kind: RulesExpression.Kind =
                    try take(":") ? .range(value, first, try readExpression()) : .index(value, first)
                try expect("]")
                value = try node(kind, at: position)
            } else {
                return value
            }
        }
    }

    private mutating func readArguments() throws(RulesSyntaxError) -> [RulesExpression] {
        try expect("(")
        return try readList(until: ")")
    }

    /// Expressions with commas between them, perhaps one at the end; takes `closing`.
    private mutating func readList(until closing: String) throws(RulesSyntaxError) -> [RulesExpression] {
        var items: [RulesExpression] = []
        while !isSymbol(closing) {
            items.append(try readExpression())
            guard try take(",") else { break }
        }
        guard try take(closing) else { throw unexpected("',' or '\(closing)'") }
        return items
    }

    private mutating func readPrimary() throws(RulesSyntaxError) -> RulesExpression {
        let position = token.position
        switch token.kind {
        case .identifier(let name): return try readWord(name)
        case .integer(let value):
            guard let value = Int64(exactly: value) else {
                throw tokenizer.error("the integer \(value) does not fit into 64 bits", at: position)
            }
            return try literal(.integer(value))
        case .float(let value): return try literal(.float(value))
        case .string(let text): return try literal(.string(text))
        case .bytes(let bytes): return try literal(.bytes(bytes))
        case .symbol("("):
            try advance()
            let inner = try readExpression()
            try expect(")")
            return inner
        case .symbol("["):
            try advance()
            return try node(.list(try readList(until: "]")), at: position)
        case .symbol("{"): return try readMap()
        case .symbol("/"): return try readPath()
        default: throw unexpected("an expression")
        }
    }

    private mutating func readWord(_ name: String) throws(RulesSyntaxError) -> RulesExpression {
        switch name {
        case "true": return try literal(.bool(true))
        case "false": return try literal(.bool(false))
        case "null": return try literal(.null)
        default:
            let position = token.position
            _ = try readName("an expression")
            return isSymbol("(")
                ? try node(.call(name, try readArguments()), at: position)
                : RulesExpression(.variable(name), at: position)
        }
    }

    private mutating func readMap() throws(RulesSyntaxError) -> RulesExpression {
        let position = token.position
        try expect("{")
        var entries: [(key: RulesExpression, value: RulesExpression)] = []
        while !isSymbol("}") {
            let key = try readExpression()
            try expect(":")
            entries.append((key, try readExpression()))
            guard try take(",") else { break }
        }
        guard try take("}") else { throw unexpected("',' or '}'") }
        return try node(.map(entries), at: position)
    }

    /// `/a/$(b)/c`: the token at hand is the first slash, the tokenizer stands right behind it.
    private mutating func readPath() throws(RulesSyntaxError) -> RulesExpression {
        let position = token.position
        var parts: [RulesExpression.PathPart] = []
        repeat {
            let start = tokenizer.position
            if tokenizer.take("$(") {
                try advance()
                parts.append(.expression(try readExpression()))
                // Not beyond it: what follows is the path's business.
                guard isSymbol(")") else { throw unexpected("')'") }
            } else {
                let text = tokenizer.takePathText()
                guard !text.isEmpty else { throw tokenizer.error("expected a part of the path after '/'", at: start) }
                parts.append(.text(text))
            }
        } while tokenizer.takeSlash()
        try advance()
        return try node(.path(parts), at: position)
    }

    private mutating func literal(_ value: RulesValue) throws(RulesSyntaxError) -> RulesExpression {
        let position = token.position
        try advance()
        return RulesExpression(.literal(value), at: position)
    }

    private func node(
        _ kind: RulesExpression.Kind, at position: RulesPosition
    ) throws(RulesSyntaxError) -> RulesExpression {
        let expression = RulesExpression(kind, at: position)
        guard expression.depth <= Limit.expressionDepth else { throw tooDeep(at: position) }
        return expression
    }

    private func tooDeep(at position: RulesPosition) -> RulesSyntaxError {
        tokenizer.error("more than \(Limit.expressionDepth) expressions are inside one another", at: position)
    }
}
