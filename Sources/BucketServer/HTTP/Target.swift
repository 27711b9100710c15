/// A request's target, taken apart once: each path segment and each query value is decoded exactly once.
struct Target: Sendable {
    /// The path's segments, without the empty one before the first slash.
    let path: [String]
    private let query: [(name: String, value: String)]

    /// - Parameter raw: the bytes of the request line, e.g. `/storage/v1/b/demo/o/a%2Fb?alt=media`.
    /// - Throws: 400 when a segment or value is not UTF-8 once decoded.
    init(raw whole: some Collection<UInt8>) throws(APIError) {
        let raw = withoutOrigin(whole)
        let mark = raw.firstIndex(of: UInt8(ascii: "?"))
        var path: [String] = []
        for segment in raw[..<(mark ?? raw.endIndex)].split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            path.append(try text(percentDecoded(segment, plusIsSpace: false)))
        }
        if path.first == "" { path.removeFirst() }
        self.path = path
        var query: [(name: String, value: String)] = []
        if let mark {
            for pair in raw[raw.index(after: mark)...].split(separator: UInt8(ascii: "&")) {
                let equals = pair.firstIndex(of: UInt8(ascii: "="))
                let name = try text(percentDecoded(pair[..<(equals ?? pair.endIndex)], plusIsSpace: true))
                let value = equals.map { pair[pair.index(after: $0)...] } ?? pair[pair.endIndex...]
                query.append((name, try text(percentDecoded(value, plusIsSpace: true))))
            }
        }
        self.query = query
    }

    /// The first value of a query parameter; an empty one is there and empty.
    subscript(name: String) -> String? { query.first { $0.name == name }?.value }

    /// A whole number from the query.
    func number(_ name: String) throws(APIError) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let value = Int64(text) else { throw .invalidParameter(name, text) }
        return value
    }

    func flag(_ name: String) -> Bool { self[name] == "true" }
}

/// The absolute form of a target, which a server must take (RFC 9112, section 3.2.2), without `http://host`.
private func withoutOrigin<Bytes: Collection<UInt8>>(_ target: Bytes) -> Bytes.SubSequence {
    guard target.first != UInt8(ascii: "/"), target.starts(with: "http".utf8) else { return target[...] }
    let authority = target.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
    return authority.drop { $0 != UInt8(ascii: "/") }
}

/// Decoded bytes as text, which keeps them unless they are not UTF-8.
private func text(_ bytes: [UInt8]) throws(APIError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
        throw .invalid("The request's address is not valid UTF-8.")
    }
    return text
}
