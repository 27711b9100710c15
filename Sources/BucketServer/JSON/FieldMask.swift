/// The `fields` parameter: which members of an answer the caller wants, e.g. `items(name,size),nextPageToken`.
indirect enum FieldMask: Sendable {
    case everything
    case only([String: FieldMask])

    /// - Throws: 400 `invalidParameter` when brackets do not match.
    init(_ text: String?) throws(APIError) {
        guard let text, !text.isEmpty else {
            self = .everything
            return
        }
        var rest = Substring(text)
        self = try Self.list(&rest, whole: text)
        guard rest.isEmpty else { throw .invalidParameter("fields", text) }
    }

    func wants(_ name: String) -> Bool {
        switch self {
        case .everything: true
        case .only(let members): members[name] != nil || members["*"] != nil
        }
    }

    /// What is wanted inside the member `name`.
    subscript(name: String) -> FieldMask {
        switch self {
        case .everything: .everything
        case .only(let members): members[name] ?? members["*"] ?? .only([:])
        }
    }

    private static func list(_ rest: inout Substring, whole: String) throws(APIError) -> FieldMask {
        var members: [String: FieldMask] = [:]
        while true {
            let (name, mask) = try element(&rest, whole: whole)
            members[name] = members[name].map { $0.union(mask) } ?? mask
            guard rest.first == "," else { break }
            rest.removeFirst()
        }
        return .only(members)
    }

    private static func element(_ rest: inout Substring, whole: String) throws(APIError) -> (String, FieldMask) {
        let name = rest.prefix { $0 != "," && $0 != "/" && $0 != "(" && $0 != ")" }
        guard !name.isEmpty else { throw .invalidParameter("fields", whole) }
        rest.removeFirst(name.count)
        let key = String(name.drop { $0 == " " })
        switch rest.first {
        case "/":
            rest.removeFirst()
            let (inner, mask) = try element(&rest, whole: whole)
            return (key, .only([inner: mask]))
        case "(":
            rest.removeFirst()
            let mask = try list(&rest, whole: whole)
            guard rest.first == ")" else { throw .invalidParameter("fields", whole) }
            rest.removeFirst()
            return (key, mask)
        default:
            return (key, .everything)
        }
    }

    private func union(_ other: FieldMask) -> FieldMask {
        guard case .only(let mine) = self, case .only(let theirs) = other else { return .everything }
        return .only(mine.merging(theirs) { $0.union($1) })
    }
}
