/// Reads a pattern into its tree.
struct PatternParser {
    private struct Flags {
        var ignoresCase = false
        /// `.` matches line feeds.
        var dotTakesAll = false
        /// `^` and `$` match at line feeds too.
        var isMultiline = false
        /// `a*` is short, `a*?` long.
        var isUngreedy = false
    }

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var flags = Flags()
    private var depth = 0

    init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

    mutating func parse() throws(PatternError) -> PatternNode {
        let node = try readAlternatives()
        guard peek == nil else { throw PatternError("unexpected ')' in the pattern") }
        return node
    }

    private mutating func readAlternatives() throws(PatternError) -> PatternNode {
        var alternatives = [try readSequence()]
        while take("|") { alternatives.append(try readSequence()) }
        return alternatives.count == 1 ? alternatives[0] : .alternatives(alternatives)
    }

    private mutating func readSequence() throws(PatternError) -> PatternNode {
        var nodes: [PatternNode] = []
        while let scalar = peek, scalar != "|", scalar != ")" {
            if take("\\Q") {
                try readQuoted(into: &nodes)
                continue
            }
            nodes.append(try readRepetition(of: try readAtom()))
        }
        return nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    /// Up to `\E`; what follows that repeats the last character.
    private mutating func readQuoted(into nodes: inout [PatternNode]) throws(PatternError) {
        while peek != nil, !take("\\E") {
            let node = literal(try next())
            guard take("\\E") else {
                nodes.append(node)
                continue
            }
            return nodes.append(try readRepetition(of: node))
        }
    }

    private mutating func readRepetition(of atom: PatternNode) throws(PatternError) -> PatternNode {
        guard let (min, max) = try readCount() else { return atom }
        let isShort = take("?")
        let node = PatternNode.repetition(atom, min: min, max: max, isGreedy: isShort == flags.isUngreedy)
        let start = index
        if try readCount() != nil {
            let text = String(String.UnicodeScalarView(scalars[start..<index]))
            throw PatternError("nothing to repeat before '\(text)'")
        }
        return node
    }

    /// `*`, `+`, `?`, `{n}`, `{n,}`, `{n,m}`; a brace that is none of these stands for itself.
    private mutating func readCount() throws(PatternError) -> (min: Int, max: Int?)? {
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        let start = index
        guard take("{"), let min = takeNumber() else {
            index = start
            return nil
        }
        var max: Int? = min
        if take(",") { max = peek == "}" ? nil : takeNumber() ?? -1 }
        guard take("}"), max != -1 else {
            index = start
            return nil
        }
        guard min <= RegularExpression.Limit.repetitions, max ?? min <= RegularExpression.Limit.repetitions,
            max.map({ $0 >= min }) ?? true
        else { throw PatternError("bad repetition count in the pattern") }
        return (min, max)
    }

    private mutating func readAtom() throws(PatternError) -> PatternNode {
        let scalar = try next()
        switch scalar {
        case ".": return .set(flags.dotTakesAll ? .everything : ScalarSet("\n"..."\n", isNegated: true))
        case "^": return .assertion(flags.isMultiline ? .lineStart : .textStart)
        case "$": return .assertion(flags.isMultiline ? .lineEnd : .textEnd)
        case "(": return try readGroup()
        case "[": return .set(try readSet())
        case "\\": return try readEscape()
        case "*", "+", "?": throw PatternError("nothing to repeat before '\(scalar)'")
        default: return literal(scalar)
        }
    }

    private func literal(_ scalar: Unicode.Scalar) -> PatternNode {
        var set = ScalarSet(scalar...scalar)
        set.ignoresCase = flags.ignoresCase
        return .set(set)
    }

    /// Behind the parenthesis.
    private mutating func readGroup() throws(PatternError) -> PatternNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= RegularExpression.Limit.groupDepth else { throw PatternError("too many groups in groups") }
        let outer = flags
        if take("?") {
            if take("P<") || take("<") {
                guard takeName(), take(">") else { throw PatternError("bad name of a group") }
            } else if try readFlags() {
                // `(?i)` holds to the end of the group that it is in.
                return .empty
            }
        }
        let node = try readAlternatives()
        guard take(")") else { throw PatternError("missing ')' in the pattern") }
        flags = outer
        return node
    }

    private mutating func takeName() -> Bool {
        let start = index
        while let scalar = peek, ScalarSet.word.contains(scalar) { index += 1 }
        return index > start
    }

    /// `i-s:` or `i-s)`, behind the question mark.
    /// - Returns: whether it was the latter.
    private mutating func readFlags() throws(PatternError) -> Bool {
        var value = true
        while true {
            switch try next() {
            case "i": flags.ignoresCase = value
            case "s": flags.dotTakesAll = value
            case "m": flags.isMultiline = value
            case "U": flags.isUngreedy = value
            case "-" where value: value = false
            case ":": return false
            case ")": return true
            case let other: throw PatternError("unknown group or flag '(?\(other)'")
            }
        }
    }
}

extension PatternParser {
    // MARK: Sets and escapes

    /// Behind the bracket.
    private mutating func readSet() throws(PatternError) -> ScalarSet {
        var set = ScalarSet(isNegated: take("^"))
        set.ignoresCase = flags.ignoresCase
        var isFirst = true
        while isFirst || peek != "]" {
            guard peek != nil else { throw PatternError("missing ']' in the pattern") }
            isFirst = false
            if take("[:") {
                set.members.append(.set(try readNamedSet()))
                continue
            }
            guard let low = try readSetItem(into: &set) else { continue }
            guard peek == "-", peek(1) != "]", peek(1) != nil else {
                set.members.append(.range(low...low))
                continue
            }
            index += 1
            guard let high = try readSetItem(into: &set), low <= high else {
                throw PatternError("bad range of characters in the pattern")
            }
            set.members.append(.range(low...high))
        }
        index += 1
        return set
    }

    /// One character of a set; nil when it was a class such as `\d`, which is added.
    private mutating func readSetItem(into set: inout ScalarSet) throws(PatternError) -> Unicode.Scalar? {
        let scalar = try next()
        guard scalar == "\\" else { return scalar }
        if let named = try takeClass() {
            set.members.append(.set(named))
            return nil
        }
        return try readCharacterEscape()
    }

    private mutating func readEscape() throws(PatternError) -> PatternNode {
        if let set = try takeClass() { return .set(set) }
        if take("b") { return .assertion(.wordBoundary) }
        if take("B") { return .assertion(.noWordBoundary) }
        if take("A") { return .assertion(.textStart) }
        if take("z") { return .assertion(.textEnd) }
        return literal(try readCharacterEscape())
    }

    /// `\d`, `\pL`, `\p{Lu}` and the like, behind the backslash.
    private mutating func takeClass() throws(PatternError) -> ScalarSet? {
        guard let scalar = peek else { throw PatternError("the pattern ends in a backslash") }
        var set: ScalarSet
        switch scalar {
        case "d", "D": set = .digit
        case "w", "W": set = .word
        case "s", "S": set = .space
        case "p", "P":
            index += 1
            set = try readCategory()
            set.isNegated = set.isNegated != (scalar == "P")
            return set
        default: return nil
        }
        index += 1
        set.isNegated = scalar.properties.isUppercase
        return set
    }

    private mutating func readCategory() throws(PatternError) -> ScalarSet {
        var name = ""
        var isNegated = false
        if take("{") {
            isNegated = take("^")
            while let scalar = peek, scalar != "}" {
                name.unicodeScalars.append(scalar)
                index += 1
            }
            guard take("}") else { throw PatternError("missing '}' in the pattern") }
        } else {
            name.unicodeScalars.append(try next())
        }
        guard let categories = Unicode.GeneralCategory.named(name) else {
            throw PatternError("unknown class of characters \\p{\(name)}")
        }
        var set = ScalarSet(isNegated: isNegated)
        set.members = [.categories(categories)]
        return set
    }

    /// `[:alpha:]`, behind the colon.
    private mutating func readNamedSet() throws(PatternError) -> ScalarSet {
        let isNegated = take("^")
        for (name, ranges) in Self.namedSets where take(name + ":]") {
            var set = ScalarSet(isNegated: isNegated)
            set.members = ranges.map { .range($0) }
            return set
        }
        throw PatternError("unknown class of characters after '[:'")
    }

    private static let namedSets: [(String, [ClosedRange<Unicode.Scalar>])] = [
        ("alnum", ["0"..."9", "A"..."Z", "a"..."z"]), ("alpha", ["A"..."Z", "a"..."z"]), ("ascii", ["\0"..."\u{7F}"]),
        ("blank", ["\t"..."\t", " "..." "]), ("cntrl", ["\0"..."\u{1F}", "\u{7F}"..."\u{7F}"]),
        ("digit", ["0"..."9"]), ("graph", ["!"..."~"]), ("lower", ["a"..."z"]), ("print", [" "..."~"]),
        ("punct", ["!"..."/", ":"..."@", "["..."`", "{"..."~"]), ("space", ["\t"..."\r", " "..." "]),
        ("upper", ["A"..."Z"]), ("word", ["0"..."9", "A"..."Z", "a"..."z", "_"..."_"]),
        ("xdigit", ["0"..."9", "A"..."F", "a"..."f"]),
    ]

    /// An escape that stands for one character, behind the backslash.
    private mutating func readCharacterEscape() throws(PatternError) -> Unicode.Scalar {
        let scalar = try next()
        switch scalar {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "f": return "\u{0C}"
        case "v": return "\u{0B}"
        case "a": return "\u{07}"
        case "x": return try readHexadecimal()
        default:
            guard !ScalarSet.word.contains(scalar) || scalar == "_" else {
                throw PatternError("unknown escape '\\\(scalar)' in the pattern")
            }
            return scalar
        }
    }

    private mutating func readHexadecimal() throws(PatternError) -> Unicode.Scalar {
        let isBraced = take("{")
        var digits = ""
        while let scalar = peek, scalar.properties.isASCIIHexDigit, digits.count < (isBraced ? 6 : 2) {
            digits.unicodeScalars.append(scalar)
            index += 1
        }
        guard isBraced ? take("}") : digits.count == 2, let code = UInt32(digits, radix: 16),
            let scalar = Unicode.Scalar(code)
        else { throw PatternError("bad escape '\\x' in the pattern") }
        return scalar
    }

    // MARK: Characters

    private var peek: Unicode.Scalar? { peek(0) }

    private func peek(_ offset: Int) -> Unicode.Scalar? {
        index + offset < scalars.count ? scalars[index + offset] : nil
    }

    private mutating func next() throws(PatternError) -> Unicode.Scalar {
        guard let scalar = peek else { throw PatternError("the pattern ends too early") }
        index += 1
        return scalar
    }

    private mutating func take(_ text: String) -> Bool {
        let wanted = text.unicodeScalars
        guard scalars[index...].starts(with: wanted) else { return false }
        index += wanted.count
        return true
    }

    private mutating func takeNumber() -> Int? {
        var value: Int?
        while let scalar = peek, ScalarSet.digit.contains(scalar) {
            // Longer numbers are out of range anyway.
            value = min((value ?? 0) * 10 + Int(scalar.value - 0x30), 1_000_000)
            index += 1
        }
        return value
    }
}

extension Unicode.GeneralCategory {
    /// The categories that `\p{name}` means: `L` all letters, `Lu` upper case letters.
    fileprivate static func named(_ name: String) -> Set<Unicode.GeneralCategory>? {
        let all: [(String, Unicode.GeneralCategory)] = [
            ("Lu", .uppercaseLetter), ("Ll", .lowercaseLetter), ("Lt", .titlecaseLetter), ("Lm", .modifierLetter),
            ("Lo", .otherLetter), ("Mn", .nonspacingMark), ("Mc", .spacingMark), ("Me", .enclosingMark),
            ("Nd", .decimalNumber), ("Nl", .letterNumber), ("No", .otherNumber), ("Pc", .connectorPunctuation),
            ("Pd", .dashPunctuation), ("Ps", .openPunctuation), ("Pe", .closePunctuation),
            ("Pi", .initialPunctuation), ("Pf", .finalPunctuation), ("Po", .otherPunctuation), ("Sm", .mathSymbol),
            ("Sc", .currencySymbol), ("Sk", .modifierSymbol), ("So", .otherSymbol), ("Zs", .spaceSeparator),
            ("Zl", .lineSeparator), ("Zp", .paragraphSeparator), ("Cc", .control), ("Cf", .format),
            ("Co", .privateUse), ("Cs", .surrogate), ("Cn", .unassigned),
        ]
        let found = all.filter { $0.0 == name || (name.count == 1 && $0.0.hasPrefix(name)) }.map(\.1)
        return found.isEmpty ? nil : Set(found)
    }
}
