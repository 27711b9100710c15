/// A regular expression of RE2's syntax, matched in time proportional to pattern × text: no pattern is a trap.
///
/// Not in it: back references and look-around, which RE2 does not have either, and script names in `\p{…}`.
struct RegularExpression: Sendable {
    enum Limit {
        static let patternLength = 4_096
        static let groupDepth = 50
        /// RE2's own bound of `{n,m}`.
        static let repetitions = 1_000
        static let instructions = 20_000
    }

    let program: [PatternInstruction]

    /// - Throws: what is wrong with `pattern`.
    init(_ pattern: String) throws(PatternError) {
        let scalars = Array(pattern.unicodeScalars)
        guard scalars.count <= Limit.patternLength else {
            throw PatternError("the pattern is longer than \(Limit.patternLength) characters")
        }
        var parser = PatternParser(scalars)
        program = try PatternCompiler.compile(try parser.parse())
    }

    /// Whether the whole text matches.
    /// - Parameter work: steps that may still be taken; lowered by those that were.
    /// - Throws: when they did not suffice.
    func matchesWhole(_ text: [Unicode.Scalar], work: inout Int) throws(PatternError) -> Bool {
        var matcher = PatternMatcher(program, text, needsEnd: true)
        return try matcher.run(from: 0, isAnchored: true, work: &work) != nil
    }

    /// The first match at or behind `start`: of those that begin leftmost the one that a backtracking matcher finds.
    func firstMatch(
        in text: [Unicode.Scalar], from start: Int, work: inout Int
    ) throws(PatternError) -> Range<Int>? {
        var matcher = PatternMatcher(program, text, needsEnd: false)
        return try matcher.run(from: start, isAnchored: false, work: &work)
    }
}

/// Why a pattern cannot be used.
struct PatternError: Error, Equatable {
    let message: String

    init(_ message: String) { self.message = message }

    static let tooMuchWork = PatternError("matching takes too many steps")
}

/// A pattern's syntax tree.
indirect enum PatternNode {
    case empty
    case set(ScalarSet)
    case assertion(PatternAssertion)
    case sequence([PatternNode])
    case alternatives([PatternNode])
    case repetition(PatternNode, min: Int, max: Int?, isGreedy: Bool)
}

/// A place that matches without taking a character.
enum PatternAssertion: Sendable, Equatable {
    case textStart, textEnd, lineStart, lineEnd, wordBoundary, noWordBoundary

    func holds(at index: Int, in text: [Unicode.Scalar]) -> Bool {
        switch self {
        case .textStart: index == 0
        case .textEnd: index == text.count
        case .lineStart: index == 0 || text[index - 1] == "\n"
        case .lineEnd: index == text.count || text[index] == "\n"
        case .wordBoundary: Self.isBoundary(index, text)
        case .noWordBoundary: !Self.isBoundary(index, text)
        }
    }

    private static func isBoundary(_ index: Int, _ text: [Unicode.Scalar]) -> Bool {
        let before = index > 0 && ScalarSet.word.contains(text[index - 1])
        let after = index < text.count && ScalarSet.word.contains(text[index])
        return before != after
    }
}

/// A set of characters.
struct ScalarSet: Sendable {
    enum Member: Sendable {
        case range(ClosedRange<Unicode.Scalar>)
        case categories(Set<Unicode.GeneralCategory>)
        case set(ScalarSet)
    }

    var members: [Member] = []
    var isNegated = false
    /// Whether a letter stands for its other case too.
    var ignoresCase = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        if holds(scalar) { return !isNegated }
        guard ignoresCase else { return isNegated }
        let others = [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping]
        let isFound = others.contains { text in
            text.unicodeScalars.count == 1 && text.unicodeScalars.first.map(holds) == true
        }
        return isFound != isNegated
    }

    private func holds(_ scalar: Unicode.Scalar) -> Bool {
        members.contains { member in
            switch member {
            case .range(let range): range.contains(scalar)
            case .categories(let categories): categories.contains(scalar.properties.generalCategory)
            case .set(let set): set.contains(scalar)
            }
        }
    }

    init(_ ranges: ClosedRange<Unicode.Scalar>..., isNegated: Bool = false) {
        members = ranges.map { .range($0) }
        self.isNegated = isNegated
    }

    static let everything = ScalarSet("\0"..."\u{10FFFF}")
    static let digit = ScalarSet("0"..."9")
    static let word = ScalarSet("0"..."9", "A"..."Z", "a"..."z", "_"..."_")
    static let space = ScalarSet("\t"..."\n", "\u{0C}"..."\r", " "..." ")
}
