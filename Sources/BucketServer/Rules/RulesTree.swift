/// A rules file that parsed.
struct Ruleset: Sendable {
    enum Version: Sendable { case one, two }

    /// The file as its user knows it.
    let file: String
    let version: Version
    /// Those outside of the service.
    let functions: [String: RulesFunction]
    /// The service, as a match without a pattern.
    let matches: [RulesMatch]
}

/// `match /a/{b}/{c=**} { … }`.
struct RulesMatch: Sendable {
    enum Segment: Sendable, Equatable {
        case literal(String)
        /// `{name}`: one part.
        case single(String)
        /// `{name=**}`: all parts up to where the rest of the pattern matches.
        case multiple(String)
    }

    let position: RulesPosition
    let pattern: [Segment]
    var allows: [RulesAllow] = []
    var functions: [String: RulesFunction] = [:]
    var matches: [RulesMatch] = []

    /// As it is written, for reasons.
    var patternText: String {
        pattern.map { segment in
            switch segment {
            case .literal(let text): "/" + text
            case .single(let name): "/{\(name)}"
            case .multiple(let name): "/{\(name)=**}"
            }
        }.joined()
    }
}

/// `allow read, write: if condition;`.
struct RulesAllow: Sendable {
    let position: RulesPosition
    /// The words as they are written.
    let words: [String]
    let methods: Set<RulesRequest.Method>
    /// Nil allows always.
    let condition: RulesExpression?
}

/// `function name(a, b) { let c = …; return …; }`.
struct RulesFunction: Sendable {
    struct Binding: Sendable {
        let name: String
        let value: RulesExpression
    }

    let name: String
    let position: RulesPosition
    let parameters: [String]
    let bindings: [Binding]
    let result: RulesExpression
}

struct RulesExpression: Sendable {
    indirect enum Kind: Sendable {
        case literal(RulesValue)
        case variable(String)
        case list([RulesExpression])
        case map([(key: RulesExpression, value: RulesExpression)])
        case path([PathPart])
        case member(RulesExpression, String)
        case index(RulesExpression, RulesExpression)
        case range(RulesExpression, RulesExpression, RulesExpression)
        /// `name(…)`.
        case call(String, [RulesExpression])
        /// `value.name(…)`, also of a namespace: `math.abs(…)`.
        case method(RulesExpression, String, [RulesExpression])
        case not(RulesExpression)
        case negative(RulesExpression)
        case binary(Operator, RulesExpression, RulesExpression)
        case hasType(RulesExpression, String)
        /// `a && b && …`: long chains stay flat.
        case all([RulesExpression])
        /// `a || b || …`.
        case any([RulesExpression])
        case conditional(RulesExpression, then: RulesExpression, otherwise: RulesExpression)
    }

    enum PathPart: Sendable {
        case text(String)
        case expression(RulesExpression)
    }

    enum Operator: String, Sendable {
        case add = "+"
        case subtract = "-"
        case multiply = "*"
        case divide = "/"
        case remainder = "%"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case isIn = "in"
        case equal = "=="
        case notEqual = "!="
    }

    let position: RulesPosition
    let kind: Kind
    /// How many expressions are inside one another here; evaluation needs as much stack.
    let depth: Int

    /// Where the first of its words stands: a field, call or part has its own position behind what it is of.
    var start: RulesPosition {
        switch kind {
        case .member(let base, _), .index(let base, _), .range(let base, _, _), .method(let base, _, _): base.start
        default: position
        }
    }

    init(_ kind: Kind, at position: RulesPosition) {
        self.kind = kind
        self.position = position
        depth = 1 + (kind.parts.map(\.depth).max() ?? 0)
    }
}

extension RulesExpression.Kind {
    /// The expressions right inside.
    var parts: [RulesExpression] {
        switch self {
        case .literal, .variable: []
        case .list(let parts), .all(let parts), .any(let parts), .call(_, let parts): parts
        case .map(let entries): entries.flatMap { [$0.key, $0.value] }
        case .path(let parts):
            parts.compactMap { if case .expression(let expression) = $0 { expression } else { nil } }
        case .member(let base, _), .hasType(let base, _), .not(let base), .negative(let base): [base]
        case .index(let base, let index): [base, index]
        case .range(let base, let from, let to): [base, from, to]
        case .method(let base, _, let arguments): [base] + arguments
        case .binary(_, let left, let right): [left, right]
        case .conditional(let condition, let then, let otherwise): [condition, then, otherwise]
        }
    }
}
