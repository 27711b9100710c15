/// Why an expression has no value. Whatever allow statement it is in allows nothing.
struct RulesEvaluationError: Error, Equatable {
    let message: String
    let position: RulesPosition
    /// Whether there will be a value once what is `.unknown` is known.
    var isOpen = false
}

/// What names mean at some place of a rules file: the service's frame, one for each match around it, and in a function
/// one for its parameters.
struct RulesScope {
    struct Frame {
        var functions: [String: RulesFunction] = [:]
        var variables: [String: RulesValue] = [:]
    }

    var frames: [Frame]

    func variable(_ name: String) -> RulesValue? {
        for frame in frames.reversed() {
            if let value = frame.variables[name] { return value }
        }
        return nil
    }

    /// A function and the scope that it was declared in.
    func function(_ name: String) -> (RulesFunction, RulesScope)? {
        for index in frames.indices.reversed() {
            if let function = frames[index].functions[name] {
                return (function, RulesScope(frames: Array(frames[...index])))
            }
        }
        return nil
    }
}

/// Computes expressions for one request. What it may take is bounded, whatever the rules and the request are.
struct RulesEvaluator {
    enum Limit {
        /// Expressions for one request.
        static let expressions = 10_000
        /// Comparisons, bytes in sixteens, steps of patterns.
        static let work = 2_000_000
        /// Expressions inside one another, through functions too. Measured: the deepest file needs less than 512 KiB of
        /// stack in a release build, less than 2 MiB in a debug build.
        static let depth = 200
        static let stringBytes = 1 << 20
        static let elements = 10_000
        /// Lists and maps inside one another.
        static let valueDepth = 64
    }

    /// What `debug()` was called with.
    private(set) var debugLines: [String] = []
    var work = Limit.work
    private var expressions = Limit.expressions
    private var depth = 0
    private var callDepth = 0
    private var patterns: [String: RegularExpression] = [:]

    mutating func value(
        of expression: RulesExpression, in scope: RulesScope
    ) throws(RulesEvaluationError) -> RulesValue {
        depth += 1
        defer { depth -= 1 }
        expressions -= 1
        guard expressions >= 0 else { throw error("the request takes too many expressions", expression.position) }
        guard depth <= Limit.depth else {
            throw error("expressions are too deep inside one another", expression.position)
        }
        let value = try compute(expression, in: scope)
        guard value != .unknown else {
            let message = "this is not known before the upload ends"
            throw RulesEvaluationError(message: message, position: expression.position, isOpen: true)
        }
        return value
    }

    private mutating func compute(
        _ expression: RulesExpression, in scope: RulesScope
    ) throws(RulesEvaluationError) -> RulesValue {
        switch expression.kind {
        case .literal(let value): return value
        case .variable(let name): return try variable(name, in: scope, at: expression.position)
        case .list, .map, .path: return try container(expression, in: scope)
        case .member, .index, .range: return try access(expression, in: scope)
        case .call(let name, let arguments):
            return try call(name, try values(of: arguments, in: scope), in: scope, at: expression.position)
        case .method(let base, let name, let arguments):
            return try method(name, of: base, arguments, in: scope, at: expression.position)
        case .not(let operand): return .bool(!(try bool(of: operand, in: scope)))
        case .negative(let operand): return try negative(try value(of: operand, in: scope), at: expression.position)
        case .binary(let symbol, let left, let right):
            let left = try value(of: left, in: scope)
            return try apply(symbol, left, try value(of: right, in: scope), at: expression.position)
        case .hasType(let operand, let name):
            let type = try value(of: operand, in: scope).typeName
            return .bool(type == name || (name == "number" && (type == "int" || type == "float")))
        case .all(let parts): return .bool(try firstFalse(of: parts, in: scope) == nil)
        case .any(let parts): return .bool(try isAnyTrue(parts, in: scope))
        case .conditional(let condition, let then, let otherwise):
            return try value(of: try bool(of: condition, in: scope) ? then : otherwise, in: scope)
        }
    }

    // MARK: Logic

    mutating func bool(of expression: RulesExpression, in scope: RulesScope) throws(RulesEvaluationError) -> Bool {
        let value = try value(of: expression, in: scope)
        guard case .bool(let value) = value else {
            throw error("expected a bool, found \(value.typeName)", expression.position)
        }
        return value
    }

    /// Where `a && b && …` is false; nil if it is true. A false part outweighs errors of those before it, and an open
    /// question outweighs errors: its answer may be false.
    mutating func firstFalse(
        of parts: [RulesExpression], in scope: RulesScope
    ) throws(RulesEvaluationError) -> RulesPosition? {
        var failure: RulesEvaluationError?
        for part in parts {
            do throws(RulesEvaluationError) {
                guard try bool(of: part, in: scope) else { return part.start }
            } catch {
                if failure == nil || error.isOpen { failure = error }
            }
        }
        if let failure { throw failure }
        return nil
    }

    /// `a || b || …`: a true part outweighs errors of those before it.
    private mutating func isAnyTrue(
        _ parts: [RulesExpression], in scope: RulesScope
    ) throws(RulesEvaluationError) -> Bool {
        var failure: RulesEvaluationError?
        for part in parts {
            do throws(RulesEvaluationError) {
                if try bool(of: part, in: scope) { return true }
            } catch {
                if failure == nil || error.isOpen { failure = error }
            }
        }
        if let failure { throw failure }
        return false
    }

    // MARK: Names

    private func variable(
        _ name: String, in scope: RulesScope, at position: RulesPosition
    ) throws(RulesEvaluationError) -> RulesValue {
        guard let value = scope.variable(name) else { throw error("there is no variable \(name)", position) }
        return value
    }

    mutating func values(
        of expressions: [RulesExpression], in scope: RulesScope
    ) throws(RulesEvaluationError) -> [RulesValue] {
        var values: [RulesValue] = []
        for expression in expressions { values.append(try value(of: expression, in: scope)) }
        return values
    }

    private mutating func call(
        _ name: String, _ arguments: [RulesValue], in scope: RulesScope, at position: RulesPosition
    ) throws(RulesEvaluationError) -> RulesValue {
        guard let (function, home) = scope.function(name) else {
            return try callBuiltIn(RulesCall(name: name, arguments: arguments, position: position))
        }
        guard function.parameters.count == arguments.count else {
            throw error(
                "\(name)() takes \(function.parameters.count) arguments, not \(arguments.count)", position)
        }
        callDepth += 1
        defer { callDepth -= 1 }
        guard callDepth <= RulesParser.Limit.callDepth else {
            throw error("more than \(RulesParser.Limit.callDepth) calls are inside one another", position)
        }
        var inner = home
        inner.frames.append(RulesScope.Frame())
        let last = inner.frames.count - 1
        for (parameter, argument) in zip(function.parameters, arguments) {
            inner.frames[last].variables[parameter] = argument
        }
        for binding in function.bindings {
            inner.frames[last].variables[binding.name] = try value(of: binding.value, in: inner)
        }
        return try value(of: function.result, in: inner)
    }

    private mutating func method(
        _ name: String, of base: RulesExpression, _ arguments: [RulesExpression], in scope: RulesScope,
        at position: RulesPosition
    ) throws(RulesEvaluationError) -> RulesValue {
        if case .variable(let namespace) = base.kind, scope.variable(namespace) == nil,
            let namespace = RulesNamespace(rawValue: namespace)
        {
            let arguments = namespace == .firestore ? [] : try values(of: arguments, in: scope)
            let call = RulesCall(name: "\(namespace.rawValue).\(name)", arguments: arguments, position: position)
            return try self.call(call, in: namespace)
        }
        let receiver = try value(of: base, in: scope)
        let call = RulesCall(name: name, arguments: try values(of: arguments, in: scope), position: position)
        return try self.call(call, on: receiver)
    }

    // MARK: Parts of values

    private mutating func container(
        _ expression: RulesExpression, in scope: RulesScope
    ) throws(RulesEvaluationError) -> RulesValue {
        let made: RulesValue
        switch expression.kind {
        case .list(let items): made = .list(try values(of: items, in: scope))
        case .map(let entries):
            var map: [String: RulesValue] = [:]
            for entry in entries {
                guard case .string(let key) = try value(of: entry.key, in: scope) else {
                    throw error("a key of a map must be a string", entry.key.position)
                }
                map[key] = try value(of: entry.value, in: scope)
            }
            made = .map(map)
        case .path(let parts): return .path(try path(of: parts, in: scope))
        default: preconditionFailure("not a container: \(expression.kind)")
        }
        try checkDepth(of: made, at: expression.position)
        return made
    }

    private mutating func path(
        of parts: [RulesExpression.PathPart], in scope: RulesScope
    ) throws(RulesEvaluationError) -> RulesPath {
        var segments: [RulesPath.Segment] = []
        for part in parts {
            switch part {
            case .text(let text): segments.append(RulesPath.Segment(text: text))
            case .expression(let expression):
                if case .variable(let name) = expression.kind, scope.variable(name) == nil {
                    segments.append(RulesPath.Segment(text: nil, name: name))
                    continue
                }
                switch try value(of: expression, in: scope) {
                case .string(let text): segments.append(RulesPath.Segment(text: text))
                case .path(let path): segments += path.segments
                case let other:
                    throw error("expected a string in the path, found \(other.typeName)", expression.position)
                }
            }
        }
        return RulesPath(segments: segments)
    }

    /// Values are taken apart by recursion, so they must not be deep.
    private mutating func checkDepth(
        of value: RulesValue, at position: RulesPosition, depth: Int = 0
    ) throws(RulesEvaluationError) {
        try spend(1, at: position)
        guard depth <= Limit.valueDepth else { throw error("lists and maps are too deep inside one another", position) }
        switch value {
        case .list(let items), .set(let items):
            for item in items { try checkDepth(of: item, at: position, depth: depth + 1) }
        case .map(let entries):
            for item in entries.values { try checkDepth(of: item, at: position, depth: depth + 1) }
        default: return
        }
    }

    // MARK: Bounds

    func error(_ message: String, _ position: RulesPosition) -> RulesEvaluationError {
        RulesEvaluationError(message: message, position: position)
    }

    mutating func spend(_ amount: Int, at position: RulesPosition) throws(RulesEvaluationError) {
        work -= amount
        guard work >= 0 else { throw error("the request takes too much work", position) }
    }

    /// A new text, unless it is too long.
    mutating func text(_ text: String, at position: RulesPosition) throws(RulesEvaluationError) -> RulesValue {
        let count = text.utf8.count
        guard count <= Limit.stringBytes else { throw error("the string is longer than a megabyte", position) }
        try spend(count / 16, at: position)
        return .string(text)
    }

    func elements(_ items: [RulesValue], at position: RulesPosition) throws(RulesEvaluationError) -> [RulesValue] {
        guard items.count <= Limit.elements else {
            throw error("the list has more than \(Limit.elements) elements", position)
        }
        return items
    }

    mutating func note(_ line: String) { debugLines.append(line) }

    /// A pattern of the rules, compiled once per request.
    mutating func pattern(
        _ text: String, at position: RulesPosition
    ) throws(RulesEvaluationError) -> RegularExpression {
        if let known = patterns[text] { return known }
        do {
            let pattern = try RegularExpression(text)
            patterns[text] = pattern
            return pattern
        } catch {
            throw self.error("bad pattern: \(error.message)", position)
        }
    }
}
