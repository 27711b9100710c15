/// A `matchGlob` pattern: `*` and `?` stop at slashes, `**` does not, `[a-z]`, `{one,other}`, `\` takes the next byte
/// as it is. Names are matched whole, byte by byte.
struct Glob: Sendable {
    private indirect enum Piece {
        case byte(UInt8)
        case oneByte
        case oneOf([ClosedRange<UInt8>], negated: Bool)
        case run(crossesSlashes: Bool)
        case alternatives([[Piece]])
    }

    private let pieces: [Piece]

    /// - Throws: 400 for a bracket or brace that does not end.
    init(_ pattern: String) throws(APIError) {
        var rest = Array(pattern.utf8)[...]
        pieces = try Self.parse(&rest, insideBraces: false, whole: pattern)
    }

    func matches(_ name: [UInt8]) -> Bool { Self.match(pieces[...], name[...]) }

    private static func match(_ pieces: ArraySlice<Piece>, _ name: ArraySlice<UInt8>) -> Bool {
        guard let piece = pieces.first else { return name.isEmpty }
        let later = pieces.dropFirst()
        switch piece {
        case .byte(let byte):
            return name.first == byte && match(later, name.dropFirst())
        case .oneByte:
            return name.first.map { $0 != UInt8(ascii: "/") } == true && match(later, name.dropFirst())
        case .oneOf(let ranges, let negated):
            guard let byte = name.first, byte != UInt8(ascii: "/") else { return false }
            return ranges.contains { $0.contains(byte) } != negated && match(later, name.dropFirst())
        case .run(let crossesSlashes):
            var rest = name
            while true {
                if match(later, rest) { return true }
                guard let byte = rest.first, crossesSlashes || byte != UInt8(ascii: "/") else { return false }
                rest = rest.dropFirst()
            }
        case .alternatives(let alternatives):
            return alternatives.contains { match(($0 + later)[...], name) }
        }
    }

    private static func parse(
        _ rest: inout ArraySlice<UInt8>, insideBraces: Bool, whole: String
    ) throws(APIError) -> [Piece] {
        var pieces: [Piece] = []
        while let byte = rest.first {
            if insideBraces, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") { return pieces }
            rest.removeFirst()
            switch byte {
            case UInt8(ascii: "*"):
                let doubled = rest.first == UInt8(ascii: "*")
                if doubled { rest.removeFirst() }
                pieces.append(.run(crossesSlashes: doubled))
            case UInt8(ascii: "?"): pieces.append(.oneByte)
            case UInt8(ascii: "["): pieces.append(try parseSet(&rest, whole: whole))
            case UInt8(ascii: "{"): pieces.append(try parseAlternatives(&rest, whole: whole))
            case UInt8(ascii: "\\"): pieces.append(.byte(rest.popFirst() ?? byte))
            default: pieces.append(.byte(byte))
            }
        }
        guard !insideBraces else { throw .invalidParameter("matchGlob", whole) }
        return pieces
    }

    private static func parseAlternatives(_ rest: inout ArraySlice<UInt8>, whole: String) throws(APIError) -> Piece {
        var alternatives: [[Piece]] = []
        while true {
            alternatives.append(try parse(&rest, insideBraces: true, whole: whole))
            if rest.removeFirst() == UInt8(ascii: "}") { return .alternatives(alternatives) }
        }
    }

    private static func parseSet(_ rest: inout ArraySlice<UInt8>, whole: String) throws(APIError) -> Piece {
        let negated = rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "^")
        if negated { rest.removeFirst() }
        var ranges: [ClosedRange<UInt8>] = []
        while let low = rest.popFirst() {
            if low == UInt8(ascii: "]"), !ranges.isEmpty { return .oneOf(ranges, negated: negated) }
            guard rest.first == UInt8(ascii: "-"), let high = rest.dropFirst().first, high != UInt8(ascii: "]") else {
                ranges.append(low...low)
                continue
            }
            rest.removeFirst(2)
            guard low <= high else { throw .invalidParameter("matchGlob", whole) }
            ranges.append(low...high)
        }
        throw .invalidParameter("matchGlob", whole)
    }
}
