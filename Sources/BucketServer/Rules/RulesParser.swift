/// Reads a rules file by recursive descent: statements here, expressions in an extension.
struct RulesParser {
    /// What a file may hold. The first five are the service's documented limits.
    enum Limit {
        static let sourceBytes = 256 * 1024
        static let nestedMatches = 10
        static let parameters = 7
        static let bindings = 10
        static let callDepth = 20
        /// Expressions inside one another; keeps the parser's and the evaluator's stacks small.
        static let expressionDepth = 100
    }

    var tokenizer: RulesTokenizer
    /// The token at hand; the tokenizer stands behind it.
    var token: RulesToken
    /// Expressions that are being read, one inside the other.
    var depth = 0
    private var version = Ruleset.Version.one

    /// - Parameter file: what the file is called in errors and reasons.
    /// - Throws: where and why `source` is not a set of storage rules.
    static func parse(_ source: String, file: String) throws(RulesSyntaxError) -> Ruleset {
        guard source.utf8.count <= Limit.sourceBytes else {
            throw RulesSyntaxError(
                file: file, position: RulesPosition(), message: "the file is longer than \(Limit.sourceBytes) bytes")
        }
        var parser = try RulesParser(source, file: file)
        let ruleset = try parser.readFile()
        try RulesCallGraph.check(ruleset)
        return ruleset
    }

    private init(_ source: String, file: String) throws(RulesSyntaxError) {
        tokenizer = RulesTokenizer(source, file: file)
        token = try tokenizer.next()
    }

    // MARK: The file

    private mutating func readFile() throws(RulesSyntaxError) -> Ruleset {
        if isWord("rules_version") { try readVersion() }
        // What is outside of the service stands in a match of its own around it; neither has a pattern.
        var file = RulesMatch(position: token.position, pattern: [])
        try readFunctions(into: &file)
        guard isWord("service") else { throw unexpected("'service firebase.storage'") }
        file.matches.append(try readService())
        try readFunctions(into: &file)
        guard token.kind == .end else { throw unexpected("the end of the file after the service") }
        return Ruleset(file: tokenizer.file, version: version, functions: file.functions, matches: file.matches)
    }

    private mutating func readService() throws(RulesSyntaxError) -> RulesMatch {
        try advance()
        let position = token.position
        var name = try readName("the service's name")
        while try take(".") { name += "." + (try readName("the rest of the service's name")) }
        guard name == "firebase.storage" else {
            throw tokenizer.error("expected the service firebase.storage, found \(name)", at: position)
        }
        var service = RulesMatch(position: position, pattern: [])
        try readBlock(into: &service, nesting: 0)
        return service
    }

    private mutating func readVersion() throws(RulesSyntaxError) {
        try advance()
        try expect("=")
        switch token.kind {
        case .string("1"): version = .one
        case .string("2"): version = .two
        default: throw unexpected("the version '1' or '2'")
        }
        try advance()
        _ = try take(";")
    }

    /// `{ … }` of the service or of a match.
    private mutating func readBlock(into match: inout RulesMatch, nesting: Int) throws(RulesSyntaxError) {
        try expect("{")
        while try !take("}") {
            if isWord("match") {
                match.matches.append(try readMatch(nesting: nesting + 1))
            } else if isWord("function") {
                try readFunctions(into: &match)
            } else if isWord("allow"), nesting > 0 {
                match.allows.append(try readAllow())
            } else {
                throw unexpected(nesting > 0 ? "'allow', 'match', 'function' or '}'" : "'match', 'function' or '}'")
            }
        }
    }

    private mutating func readFunctions(into match: inout RulesMatch) throws(RulesSyntaxError) {
        while isWord("function") {
            let function = try readFunction()
            guard match.functions[function.name] == nil else {
                throw tokenizer.error("the function \(function.name) is here already", at: function.position)
            }
            match.functions[function.name] = function
        }
    }

    // MARK: Statements. The semicolon at their end may be missing, as it is in many a file of real projects.

    private mutating func readMatch(nesting: Int) throws(RulesSyntaxError) -> RulesMatch {
        let position = token.position
        guard nesting <= Limit.nestedMatches else {
            throw tokenizer.error("more than \(Limit.nestedMatches) matches are inside one another", at: position)
        }
        try advance()
        // The tokenizer stands behind the slash.
        guard isSymbol("/") else { throw unexpected("a path that begins with '/'") }
        var match = RulesMatch(position: position, pattern: try readPattern())
        try advance()
        try readBlock(into: &match, nesting: nesting)
        return match
    }

    private mutating func readPattern() throws(RulesSyntaxError) -> [RulesMatch.Segment] {
        var segments: [RulesMatch.Segment] = []
        repeat {
            let position = tokenizer.position
            let segment = try readPatternSegment()
            if segments.contains(where: \.isMultiple) {
                if segment.isMultiple {
                    throw tokenizer.error("a path can have one {name=**} only", at: position)
                }
                if version == .one {
                    throw tokenizer.error(
                        "with rules_version '1' nothing can follow {name=**}; write rules_version = '2';", at: position)
                }
            }
            segments.append(segment)
        } while tokenizer.takeSlash()
        return segments
    }

    private mutating func readPatternSegment() throws(RulesSyntaxError) -> RulesMatch.Segment {
        let position = tokenizer.position
        guard tokenizer.take("{") else {
            let text = tokenizer.takePathText()
            guard !text.isEmpty else { throw tokenizer.error("expected a part of the path after '/'", at: position) }
            return .literal(text)
        }
        try advance()
        let name = try readName("the wildcard's name")
        guard isSymbol("=") else {
            // Not beyond the brace: what follows is the path's business.
            guard isSymbol("}") else { throw unexpected("'}' or '=**}' after the wildcard's name") }
            try checkEndOfPart()
            return .single(name)
        }
        guard tokenizer.take("**") else { throw tokenizer.error("expected '**' after '='", at: tokenizer.position) }
        try advance()
        guard isSymbol("}") else { throw unexpected("'}' after '**'") }
        try checkEndOfPart()
        return .multiple(name)
    }

    private func checkEndOfPart() throws(RulesSyntaxError) {
        guard tokenizer.isAtEndOfPathPart else {
            throw tokenizer.error(
                "expected '/' or '{': a wildcard takes a whole part of the path", at: tokenizer.position)
        }
    }

    private mutating func readAllow() throws(RulesSyntaxError) -> RulesAllow {
        let position = token.position
        try advance()
        var words: [String] = []
        var methods: Set<RulesRequest.Method> = []
        repeat {
            let position = token.position
            let word = try readName("a method such as read or write")
            guard let meant = RulesRequest.Method.named(word) else {
                throw tokenizer.error(
                    "expected get, list, read, create, update, delete or write, found '\(word)'", at: position)
            }
            words.append(word)
            methods.formUnion(meant)
        } while try take(",")
        var condition: RulesExpression?
        if try take(":") {
            guard isWord("if") else { throw unexpected("'if' after ':'") }
            try advance()
            condition = try readExpression()
        }
        guard try take(";") || isEndOfStatement else {
            throw unexpected(condition == nil ? "':' or ';' after the methods" : "';' after the condition")
        }
        return RulesAllow(position: position, words: words, methods: methods, condition: condition)
    }

    private var isEndOfStatement: Bool {
        isSymbol("}") || ["allow", "match", "function", "let", "return"].contains { isWord($0) }
    }

    private mutating func readFunction() throws(RulesSyntaxError) -> RulesFunction {
        try advance()
        let position = token.position
        let name = try readName("the function's name")
        let parameters = try readParameters()
        try expect("{")
        var bindings: [RulesFunction.Binding] = []
        while isWord("let") {
            let position = token.position
            guard bindings.count < Limit.bindings else {
                throw tokenizer.error("a function can have \(Limit.bindings) let bindings at most", at: position)
            }
            try advance()
            let name = try readName("the variable's name")
            try expect("=")
            bindings.append(RulesFunction.Binding(name: name, value: try readExpression()))
            guard try take(";") || isEndOfStatement else { throw unexpected("';' after the value") }
        }
        guard isWord("return") else { throw unexpected("'let' or 'return'") }
        try advance()
        let result = try readExpression()
        _ = try take(";")
        try expect("}")
        return RulesFunction(name: name, position: position, parameters: parameters, bindings: bindings, result: result)
    }

    private mutating func readParameters() throws(RulesSyntaxError) -> [String] {
        let position = token.position
        try expect("(")
        var parameters: [String] = []
        while !isSymbol(")") {
            parameters.append(try readName("a parameter's name or ')'"))
            guard try take(",") else { break }
        }
        try expect(")")
        guard parameters.count <= Limit.parameters else {
            throw tokenizer.error("a function can have \(Limit.parameters) parameters at most", at: position)
        }
        return parameters
    }
}

extension RulesParser {
    // MARK: Tokens

    mutating func advance() throws(RulesSyntaxError) { token = try tokenizer.next() }

    func isSymbol(_ symbol: String) -> Bool { token.kind == .symbol(symbol) }

    func isWord(_ word: String) -> Bool { token.kind == .identifier(word) }

    mutating func take(_ symbol: String) throws(RulesSyntaxError) -> Bool {
        guard isSymbol(symbol) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ symbol: String) throws(RulesSyntaxError) {
        guard try take(symbol) else { throw unexpected("'\(symbol)'") }
    }

    mutating func readName(_ what: String) throws(RulesSyntaxError) -> String {
        guard case .identifier(let name) = token.kind, !Self.reserved.contains(name) else { throw unexpected(what) }
        try advance()
        return name
    }

    func unexpected(_ expected: String) -> RulesSyntaxError {
        tokenizer.error("expected \(expected), found \(token.description)", at: token.position)
    }

    /// Words that name nothing.
    static let reserved: Set<String> = [
        "true", "false", "null", "in", "is", "if", "allow", "match", "function", "return", "let",
    ]
}

extension RulesMatch.Segment {
    fileprivate var isMultiple: Bool { if case .multiple = self { true } else { false } }
}

extension RulesRequest.Method {
    /// The methods that a word of `allow` means; nil if it means none.
    fileprivate static func named(_ word: String) -> Set<RulesRequest.Method>? {
        switch word {
        case "read": [.get, .list]
        case "write": [.create, .update, .delete]
        default: RulesRequest.Method(rawValue: word).map { [$0] }
        }
    }
}
