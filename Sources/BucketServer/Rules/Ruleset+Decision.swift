extension Ruleset {
    /// Whether the rules let a request through; if they do not, why each statement that could have said no.
    func decide(_ request: RulesRequest) -> RulesVerdict { consider(request).verdict }

    /// The verdict, and what `debug()` was called with on the way.
    func consider(_ request: RulesRequest) -> (verdict: RulesVerdict, debugLines: [String]) {
        var decision = RulesDecision(self, request)
        return (decision.verdict(), decision.debugLines)
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
    private var evaluator = RulesEvaluator()
    private var ways = Limit.ways
    private var notes: [String] = []
    private var notesLeftOut = 0
    /// Whether a statement may allow the request once all of it is known.
    private var isOpen = false

    init(_ ruleset: Ruleset, _ request: RulesRequest) {
        self.ruleset = ruleset
        self.request = request
    }

    var debugLines: [String] { evaluator.debugLines.map { "\(ruleset.file):\($0)" } }

    mutating func verdict() -> RulesVerdict {
        if request.method == .list, ruleset.version == .one {
            return .deny(
                reason: "\(ruleset.file): rules_version '1' allows no list; begin the file with rules_version = '2';")
        }
        let scope = RulesScope(frames: [RulesScope.Frame(functions: ruleset.functions, variables: variables)])
        for match in ruleset.matches where isAllowed(by: match, request.path[...], scope) { return .allow }
        if isOpen { return .undecided }
        if ways < 0 { note("\(ruleset.file): the path can be matched in too many ways") }
        guard !notes.isEmpty else {
            return .deny(reason: "\(ruleset.file): no match for \(RulesPath(request.path).description)")
        }
        if notesLeftOut > 0 { notes.append("and \(notesLeftOut) more") }
        return .deny(reason: notes.joined(separator: "; "))
    }

    private var variables: [String: RulesValue] {
        [
            "request": .map([
                "auth": request.auth ?? .null, "method": .string(request.method.rawValue),
                "path": .path(RulesPath(request.path)), "resource": request.proposed ?? .null,
                "time": .timestamp(request.time),
            ]),
            "resource": request.resource ?? .null,
        ]
    }

    private mutating func note(_ text: String) {
        if notes.count < Limit.notes { notes.append(text) } else { notesLeftOut += 1 }
    }

    // MARK: Matches

    private mutating func isAllowed(by match: RulesMatch, _ path: ArraySlice<String>, _ scope: RulesScope) -> Bool {
        for (rest, captured) in waysToMatch(match, path) {
            ways -= 1
            guard ways >= 0 else { return false }
            var inner = scope
            inner.frames.append(RulesScope.Frame(functions: match.functions, variables: captured))
            if rest.isEmpty, isAllowed(byStatementsOf: match, inner) { return true }
            for child in match.matches where isAllowed(by: child, rest, inner) { return true }
        }
        return false
    }

    /// What each way leaves of the path, and what the wildcards are. `{a=**}` takes different numbers of parts where
    /// matches inside have to take the rest.
    private func waysToMatch(
        _ match: RulesMatch, _ path: ArraySlice<String>
    ) -> [(rest: ArraySlice<String>, captured: [String: RulesValue])] {
        let pattern = match.pattern
        let spare = path.count - pattern.count
        guard let wildcard = pattern.firstIndex(where: { if case .multiple = $0 { true } else { false } }) else {
            guard spare >= 0, spare == 0 || !match.matches.isEmpty else { return [] }
            return capture(pattern, path, wildcardParts: 0).map { [$0] } ?? []
        }
        let fewest = ruleset.version == .two ? 0 : 1
        let most = spare + 1
        guard most >= fewest, wildcard <= path.count else { return [] }
        let counts = match.matches.isEmpty ? most...most : fewest...most
        return counts.compactMap { capture(pattern, path, wildcardParts: $0) }
    }

    private func capture(
        _ pattern: [RulesMatch.Segment], _ path: ArraySlice<String>, wildcardParts: Int
    ) -> (rest: ArraySlice<String>, captured: [String: RulesValue])? {
        var rest = path
        var captured: [String: RulesValue] = [:]
        for segment in pattern {
            switch segment {
            case .literal(let text):
                guard let part = rest.popFirst(), part.utf8.elementsEqual(text.utf8) else { return nil }
            case .single(let name):
                guard let part = rest.popFirst() else { return nil }
                captured[name] = .string(part)
            case .multiple(let name):
                captured[name] = .path(RulesPath(rest.prefix(wildcardParts)))
                rest = rest.dropFirst(wildcardParts)
            }
        }
        return (rest, captured)
    }

    // MARK: Statements

    private mutating func isAllowed(byStatementsOf match: RulesMatch, _ scope: RulesScope) -> Bool {
        let statements = match.allows.filter { $0.methods.contains(request.method) }
        if statements.isEmpty, !match.allows.isEmpty {
            let place = "\(ruleset.file):\(match.position.line): match \(match.patternText)"
            note("\(place): nothing allows \(request.method.rawValue)")
        }
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
