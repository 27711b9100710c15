/// What a request to an upload session says about its body (PROTOCOL 4.5).
enum ContentRange: Equatable, Sendable {
    /// No header: the body is the whole object.
    case whole
    /// `bytes a-b/T` or `bytes a-b/*`; `last` is nil for `bytes a-*/…`.
    case chunk(first: Int64, last: Int64?, total: Int64?)
    /// `bytes */*` or `bytes */T`: how much is there?
    case query(total: Int64?)

    /// More than any object can be, and far from where sums would overflow.
    private static let largest: Int64 = 1 << 50

    init(_ header: String?) throws(APIError) {
        guard let header else {
            self = .whole
            return
        }
        guard let range = Self.parse(header) else { throw .invalidParameter("Content-Range", header) }
        self = range
    }

    private static func parse(_ header: String) -> ContentRange? {
        guard header.hasPrefix("bytes ") else { return nil }
        let halves = header.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = Int64(halves[1])
        guard total != nil || halves[1] == "*", (0...largest).contains(total ?? 0) else { return nil }
        if halves[0] == "*" { return .query(total: total) }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int64(ends[0]), (0...largest).contains(first) else { return nil }
        if ends[1] == "*" { return .chunk(first: first, last: nil, total: total) }
        guard let last = Int64(ends[1]), first <= last, last <= largest, total.map({ last < $0 }) ?? true else {
            return nil
        }
        return .chunk(first: first, last: last, total: total)
    }
}
