/// A request's head. The body comes separately, piece by piece.
struct Request: Sendable {
    /// The method meant: `X-HTTP-Method-Override` of a POST counts.
    let method: String
    /// The method as sent.
    let sentMethod: String
    let target: Target
    let headers: Headers

    init(method: String, target: Target, headers: Headers) {
        self.target = target
        self.headers = headers
        sentMethod = method
        self.method = method == "POST" ? headers["X-HTTP-Method-Override"] ?? method : method
    }

    /// Whether this asks for an object's bytes.
    var wantsMedia: Bool { target["alt"] == "media" || target.path.first == "download" }

    var errorForm: ErrorForm {
        if target.path.first == "v0" { return .shortDocument }
        return wantsMedia ? .text : .document
    }
}

/// Header lines in the order they came; names compare without case.
struct Headers: Sendable {
    private var lines: [(name: String, value: String)] = []

    mutating func append(_ name: String, _ value: String) { lines.append((name, value)) }

    subscript(name: String) -> String? {
        for line in lines where equalsIgnoringCase(line.name, name) { return line.value }
        return nil
    }

    /// Every value of a header that may come more than once.
    func all(_ name: String) -> [String] {
        lines.filter { equalsIgnoringCase($0.name, name) }.map(\.value)
    }

    /// Lines whose name starts with `prefix` (lower case), the rest of the name in lower case.
    func withPrefix(_ prefix: String) -> [(name: String, value: String)] {
        lines.compactMap { line in
            let name = line.name.lowercased()
            return name.hasPrefix(prefix) ? (String(name.dropFirst(prefix.count)), line.value) : nil
        }
    }
}

private func equalsIgnoringCase(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lowercase($0) == lowercase($1) }
}

private func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}
