/// A word or sign of a rules file.
struct RulesToken {
    enum Kind: Equatable {
        case identifier(String)
        /// The magnitude of 2^63 is one more than an integer holds: only `-` in front makes it one.
        case integer(UInt64)
        case float(Double)
        case string(String)
        case bytes([UInt8])
        /// `{`, `&&` and so on.
        case symbol(String)
        case end
    }

    let kind: Kind
    let position: RulesPosition

    /// A word or sign as it is written; nil for literals.
    var text: String? {
        switch kind {
        case .identifier(let text), .symbol(let text): text
        case .integer, .float, .string, .bytes, .end: nil
        }
    }

    /// For sentences about what stands there.
    var description: String {
        switch kind {
        case .identifier(let name): "'\(name)'"
        case .integer(let value): "'\(value)'"
        case .float(let value): "'\(value)'"
        case .string: "a string"
        case .bytes: "bytes"
        case .symbol(let symbol): "'\(symbol)'"
        case .end: "the end of the file"
        }
    }
}

/// Cuts a rules file into tokens. Paths have rules of their own: the parser asks for them part by part.
struct RulesTokenizer {
    let file: String
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private(set) var position = RulesPosition()

    init(_ source: String, file: String) {
        scalars = Array(source.unicodeScalars)
        self.file = file
    }

    func error(_ message: String, at position: RulesPosition) -> RulesSyntaxError {
        RulesSyntaxError(file: file, position: position, message: message)
    }

    mutating func next() throws(RulesSyntaxError) -> RulesToken {
        try skipBlanks()
        let start = position
        guard let first = peek else { return RulesToken(kind: .end, position: start) }
        let kind: RulesToken.Kind
        if first == "b", let quote = peek(1), isQuote(quote) {
            advance()
            kind = .bytes(try readBytes())
        } else if isNameStart(first) {
            kind = .identifier(readName())
        } else if isDigit(first) || (first == "." && isDigit(peek(1))) {
            kind = try readNumber()
        } else if isQuote(first) {
            var text = String.UnicodeScalarView()
            try readQuoted { (scalar, _) in text.append(scalar) }
            kind = .string(String(text))
        } else {
            kind = .symbol(try readSymbol())
        }
        return RulesToken(kind: kind, position: start)
    }

    // MARK: Paths

    /// Whether a path goes on here; takes the slash.
    mutating func takeSlash() -> Bool {
        guard peek == "/", peek(1) != "/", peek(1) != "*" else { return false }
        advance()
        return true
    }

    /// Whether `text` stands right here; takes it.
    mutating func take(_ text: String) -> Bool {
        for (offset, scalar) in text.unicodeScalars.enumerated() where peek(offset) != scalar { return false }
        for _ in text.unicodeScalars { advance() }
        return true
    }

    /// Whether a part of a path cannot go on here.
    var isAtEndOfPathPart: Bool { peek.map { isBlank($0) || $0 == "/" || $0 == "{" } ?? true }

    /// The literal text of a path's part, up to what cannot be one; perhaps empty. A part in parentheses, such as
    /// `(default)`, is taken with them.
    mutating func takePathText() -> String {
        var text = String.UnicodeScalarView()
        var depth = 0
        while let scalar = peek, !isBlank(scalar), !"/{};,[]'\"".unicodeScalars.contains(scalar) {
            if scalar == "(" { depth += 1 }
            if scalar == ")" {
                guard depth > 0 else { break }
                depth -= 1
            }
            text.append(scalar)
            advance()
        }
        return String(text)
    }

    // MARK: Characters

    private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private func peek(_ offset: Int) -> Unicode.Scalar? {
        index + offset < scalars.count ? scalars[index + offset] : nil
    }

    private mutating func advance() {
        if scalars[index] == "\n" {
            position.line += 1
            position.column = 1
        } else {
            position.column += 1
        }
        index += 1
    }

    private func isBlank(_ scalar: Unicode.Scalar) -> Bool { " \t\r\n\u{FEFF}".unicodeScalars.contains(scalar) }

    private func isQuote(_ scalar: Unicode.Scalar) -> Bool { scalar == "'" || scalar == "\"" }

    private func isDigit(_ scalar: Unicode.Scalar?) -> Bool { scalar.map { ("0"..."9").contains($0) } ?? false }

    private func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_"
    }

    /// Blanks and both kinds of comments.
    private mutating func skipBlanks() throws(RulesSyntaxError) {
        while let scalar = peek {
            if isBlank(scalar) {
                advance()
            } else if scalar == "/", peek(1) == "/" {
                while let scalar = peek, scalar != "\n" { advance() }
            } else if scalar == "/", peek(1) == "*" {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(RulesSyntaxError) {
        let start = position
        advance()
        advance()
        while !(peek == "*" && peek(1) == "/") {
            guard peek != nil else { throw error("expected '*/' to end the comment that starts here", at: start) }
            advance()
        }
        advance()
        advance()
    }

    private mutating func readName() -> String {
        var name = String.UnicodeScalarView()
        while let scalar = peek, isNameStart(scalar) || isDigit(scalar) {
            name.append(scalar)
            advance()
        }
        return String(name)
    }

    private mutating func readSymbol() throws(RulesSyntaxError) -> String {
        let start = position
        for symbol in ["&&", "||", "==", "!=", "<=", ">="] where take(symbol) { return symbol }
        let scalar = scalars[index]
        guard "{}()[];:,.?<>+-*/%!=$".unicodeScalars.contains(scalar) else {
            let shown = scalar.value < 0x20 ? "\\u\(String(scalar.value, radix: 16))" : String(scalar)
            throw error("unexpected character '\(shown)'", at: start)
        }
        advance()
        return String(scalar)
    }
}

extension RulesTokenizer {
    // MARK: Numbers

    private mutating func readNumber() throws(RulesSyntaxError) -> RulesToken.Kind {
        let start = position
        var text = takeDigits()
        var isFloat = false
        // `1.size()` has no fraction: a dot needs a digit after it.
        if peek == ".", isDigit(peek(1)) {
            isFloat = true
            advance()
            text += "." + takeDigits()
        }
        if let exponent = peek, exponent == "e" || exponent == "E" {
            let sign = peek(1).flatMap { $0 == "+" || $0 == "-" ? $0 : nil }
            if isDigit(peek(sign == nil ? 1 : 2)) {
                isFloat = true
                advance()
                if sign != nil { advance() }
                text += "e" + (sign.map { String($0) } ?? "") + takeDigits()
            }
        }
        if let next = peek, isNameStart(next) {
            throw error("expected the number to end before '\(next)'", at: position)
        }
        if isFloat {
            guard let value = Double(text.hasPrefix(".") ? "0" + text : text), value.isFinite else {
                throw error("the number \(text) is out of range", at: start)
            }
            return .float(value)
        }
        guard let value = UInt64(text), value <= 1 << 63 else {
            throw error("the integer \(text) does not fit into 64 bits", at: start)
        }
        return .integer(value)
    }

    private mutating func takeDigits() -> String {
        var digits = ""
        while let scalar = peek, isDigit(scalar) {
            digits.unicodeScalars.append(scalar)
            advance()
        }
        return digits
    }

    // MARK: Strings

    private mutating func readBytes() throws(RulesSyntaxError) -> [UInt8] {
        var bytes: [UInt8] = []
        try readQuoted { (scalar, isByte) in
            if isByte {
                bytes.append(UInt8(scalar.value))
            } else {
                bytes += Array(String(scalar).utf8)
            }
        }
        return bytes
    }

    /// Reads a quoted text.
    /// - Parameter take: gets each character, and whether it was spelled as a byte: `\x41` or `\101`.
    private mutating func readQuoted(_ take: (Unicode.Scalar, Bool) -> Void) throws(RulesSyntaxError) {
        let start = position
        let quote = peek
        advance()
        while let scalar = peek, scalar != quote {
            guard scalar != "\n" else { break }
            if scalar == "\\" {
                try readEscape(take)
            } else {
                take(scalar, false)
                advance()
            }
        }
        guard let quote, peek == quote else {
            throw error("expected a closing quote on the line of the opening one", at: start)
        }
        advance()
    }

    private mutating func readEscape(_ take: (Unicode.Scalar, Bool) -> Void) throws(RulesSyntaxError) {
        let start = position
        advance()
        guard let scalar = peek, scalar != "\n" else { return }
        if ("0"..."3").contains(scalar) { return take(try readCode(digits: 3, radix: 8, after: start), true) }
        advance()
        switch scalar {
        case "n": take("\n", false)
        case "t": take("\t", false)
        case "r": take("\r", false)
        case "a": take("\u{07}", false)
        case "b": take("\u{08}", false)
        case "f": take("\u{0C}", false)
        case "v": take("\u{0B}", false)
        case "\\", "'", "\"", "`", "?": take(scalar, false)
        case "x", "X": take(try readCode(digits: 2, radix: 16, after: start), true)
        case "u": take(try readCode(digits: 4, radix: 16, after: start), false)
        case "U": take(try readCode(digits: 8, radix: 16, after: start), false)
        default:
            // Not an escape: both characters are meant, as in the pattern '.*\.png'.
            take("\\", false)
            take(scalar, false)
        }
    }

    private mutating func readCode(
        digits: Int, radix: Int, after start: RulesPosition
    ) throws(RulesSyntaxError) -> Unicode.Scalar {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = peek.flatMap({ Character($0).hexDigitValue }), digit < radix else {
                throw error("expected \(digits) digits of base \(radix) in this escape", at: start)
            }
            value = value &* UInt32(radix) &+ UInt32(digit)
            advance()
        }
        guard let scalar = Unicode.Scalar(value) else {
            throw error("the escape names no character", at: start)
        }
        return scalar
    }
}
