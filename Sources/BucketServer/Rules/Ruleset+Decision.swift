extension Ruleset {
    /// Whether the rules let a request through; if they do not, why each statement that could have said no.
    func decide(_ request: RulesRequest) -> RulesVerdict { consider(request).verdict }

    /// The verdict, and what `debug()` was called with on the way.
    func consider(_ request: RulesRequest) -> (verdict: RulesVerdict, debugLines: [String]) {
        var decision = RulesDecision(self, request)
        return (decision.verdict(), decision.debugLines)
    }
}

/// A match that takes a part of the path.
private struct MatchedPart {
    let match: RulesMatch
    var singles: [(name: String, part: String)] = []
    var multiple: (name: String, parts: ArraySlice<String>)?

    /// What its statements see of it.
    var frame: RulesScope.Frame {
        var frame = RulesScope.Frame(functions: match.functions)
        for single in singles { frame.variables[single.name] = .string(single.part) }
        if let multiple { frame.variables[multiple.name] = .path(RulesPath(multiple.parts)) }
        return frame
    }
}

/// Looks for a statement that allows a request.
private struct RulesDecision {
    private enum Limit {
        /// Ways in which matches may be tried on the path; more are those of `{a=**}` inside one another.
        static let ways = 10_000
        /// Statements that a reason tells of.
        static let notes = 8
    }

    private let ruleset: Ruleset
    private let request: RulesRequest
    /// What every condition sees.
    private let global: RulesScope.Frame
    private var evaluator = RulesEvaluator()
    private var ways = Limit.ways
    private var notes: [String] = []
    private var notesLeftOut = 0
    /// Whether a statement may allow the request once all of it is known.
    private var isOpen = false

    init(_ ruleset: Ruleset, _ request: RulesRequest) {
        self.ruleset = ruleset
        self.request = request
        global = Self.globalFrame(ruleset, request)
    }

    var debugLines: [String] { evaluator.debugLines.map { "\(ruleset.file):\($0)" } }

    mutating func verdict() -> RulesVerdict {
        if request.method == .list, ruleset.version == .one {
            return .deny(
                reason: "\(ruleset.file): rules_version '1' allows no list; begin the file with rules_version = '2';")
        }
        for match in ruleset.matches where isAllowed(by: match, request.path[...], inside: []) { return .allow }
        if isOpen { return .undecided }
        if ways < 0 { note("\(ruleset.file): the path can be matched in too many ways") }
        guard !notes.isEmpty else {
            return .deny(reason: "\(ruleset.file): no match for \(RulesPath(request.path).description)")
        }
        if notesLeftOut > 0 { notes.append("and \(notesLeftOut) more") }
        return .deny(reason: notes.joined(separator: "; "))
    }

    private static func globalFrame(_ ruleset: Ruleset, _ request: RulesRequest) -> RulesScope.Frame {
        RulesScope.Frame(
            functions: ruleset.functions,
            variables: [
                "request": .map([
                    "auth": request.auth ?? .null, "method": .string(request.method.rawValue),
                    "path": .path(RulesPath(request.path)), "resource": request.proposed ?? .null,
                    "time": .timestamp(request.time),
                ]),
                "resource": request.resource ?? .null,
            ])
    }

    private mutating func note(_ text: String) {
        if notes.count < Limit.notes { notes.append(text) } else { notesLeftOut += 1 }
    }

    // MARK: Matches

    /// - Parameter outer: the matches around, and what their wildcards took.
    private mutating func isAllowed(
        by match: RulesMatch, _ path: ArraySlice<String>, inside outer: [MatchedPart]
    ) -> Bool {
        for count in wildcardCounts(match, path) {
            ways -= 1
            guard ways >= 0 else { return false }
            guard let (part, rest) = matched(match, path, wildcardParts: count) else { continue }
            let inner = outer + [part]
            if rest.isEmpty, isAllowed(byStatementsOf: match, inside: inner) { return true }
            for child in match.matches where isAllowed(by: child, rest, inside: inner) { return true }
        }
        return false
    }

    /// How many parts of the path `{a=**}` may take: different numbers where matches inside have to take the rest.
    /// A pattern without it has one way, or none.
    private func wildcardCounts(_ match: RulesMatch, _ path: ArraySlice<String>) -> ClosedRange<Int> {
        let none = -1 ... -1
        let spare = path.count - match.pattern.count
        guard match.pattern.contains(where: { if case .multiple = $0 { true } else { false } }) else {
            return spare == 0 || (spare > 0 && !match.matches.isEmpty) ? 0...0 : none
        }
        let fewest = ruleset.version == .two ? 0 : 1
        let most = spare + 1
        guard most >= fewest else { return none }
        return match.matches.isEmpty ? most...most : fewest...most
    }

    /// What the wildcards take and what is left of the path; nil if the pattern does not match its beginning.
    private func matched(
        _ match: RulesMatch, _ path: ArraySlice<String>, wildcardParts: Int
    ) -> (part: MatchedPart, rest: ArraySlice<String>)? {
        guard wildcardParts >= 0 else { return nil }
        var rest = path
        var part = MatchedPart(match: match)
        for segment in match.pattern {
            switch segment {
            case .literal(let text):
                guard let next = rest.popFirst(), next.utf8.elementsEqual(text.utf8) else { return nil }
            case .single(let name):
                guard let next = rest.popFirst() else { return nil }
                part.singles.append((name, next))
            case .multiple(let name):
                part.multiple = (name, rest.prefix(wildcardParts))
                rest = rest.dropFirst(wildcardParts)
            }
        }
        return (part, rest)
    }

    // MARK: Statements

    private mutating func isAllowed(byStatementsOf match: RulesMatch, inside parts: [MatchedPart]) -> Bool {
        let statements = match.allows.filter { $0.methods.contains(request.method) }
        if statements.isEmpty, !match.allows.isEmpty {
            let place = "\(ruleset.file):\(match.position.line): match \(match.patternText)"
            note("\(place): nothing allows \(request.method.rawValue)")
        }
        guard !statements.isEmpty else { return false }
        let scope = RulesScope(frames: [global] + parts.map(\.frame))
        for statement in statements {
            let place = "\(ruleset.file):\(statement.position.line): allow \(statement.words.joined(separator: ", "))"
            guard let condition = statement.condition else { return true }
            do throws(RulesEvaluationError) {
                guard let position = try whereFalse(condition, scope) else { return true }
                note("\(place): condition is false at \(position)")
            } catch {
                isOpen = isOpen || error.isOpen
                note("\(place): error at \(error.position): \(error.message)")
            }
        }
        return false
    }

    /// Where a condition says no; nil if it says yes.
    private mutating func whereFalse(
        _ condition: RulesExpression, _ scope: RulesScope
    ) throws(RulesEvaluationError) -> RulesPosition? {
        if case .all(let parts) = condition.kind { return try evaluator.firstFalse(of: parts, in: scope) }
        return try evaluator.bool(of: condition, in: scope) ? nil : condition.start
    }
}
