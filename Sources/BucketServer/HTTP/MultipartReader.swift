/// Is told the parts of a multipart body as they pass by.
protocol MultipartSink {
    func partBegan(_ headers: Headers) throws(APIError)
    func partContinued(_ bytes: ArraySlice<UInt8>) throws(APIError)
    func partEnded() throws(APIError)
}

/// Takes a `multipart/…` body apart while it streams in, whatever the pieces it arrives in (RFC 2046, section 5.1).
/// Lines may end without a carriage return, as the service allows and gsutil writes them: as the first boundary's line
/// does.
struct MultipartReader {
    private enum State {
        case preamble, headers, body, finished
    }

    /// More header bytes than any part needs.
    private static let longestHeaders = 65_536

    private var delimiter: [UInt8]
    private var state = State.preamble
    /// What was read but not understood yet. It starts as a line end, because a boundary is a line of its own.
    private var pending: [UInt8] = [0x0A]

    var isFinished: Bool { state == .finished }

    /// - Parameter contentType: the header that names the boundary.
    init(contentType: String?) throws(APIError) {
        guard let contentType, contentType.lowercased().hasPrefix("multipart/"),
            let boundary = Self.parameter("boundary", of: contentType), !boundary.isEmpty
        else { throw .invalid("The Content-Type must be multipart with a boundary.") }
        delimiter = Array("\n--\(boundary)".utf8)
    }

    mutating func read(_ bytes: RawSpan, into sink: some MultipartSink) throws(APIError) {
        pending.append(bytes)
        try understand(into: sink)
    }

    mutating func read(_ bytes: [UInt8], into sink: some MultipartSink) throws(APIError) {
        pending += bytes
        try understand(into: sink)
    }

    private mutating func understand(into sink: some MultipartSink) throws(APIError) {
        var rest = pending[...]
        while try step(&rest, into: sink) {}
        pending = Array(rest)
    }

    /// Understands as much as one state can.
    /// - Returns: whether the next state should have a look.
    private mutating func step(_ rest: inout ArraySlice<UInt8>, into sink: some MultipartSink) throws(APIError) -> Bool
    {
        switch state {
        case .finished:
            rest = []
            return false
        case .headers: return try readHeaders(&rest, into: sink)
        case .preamble, .body: return try readToDelimiter(&rest, into: sink)
        }
    }

    private mutating func readToDelimiter(
        _ rest: inout ArraySlice<UInt8>, into sink: some MultipartSink
    ) throws(APIError) -> Bool {
        let start = firstRange(of: delimiter, in: rest)
        let content = rest[..<(start ?? max(rest.startIndex, rest.endIndex - delimiter.count + 1))]
        if state == .body, !content.isEmpty { try sink.partContinued(content) }
        rest = rest[content.endIndex...]
        guard let start else { return false }
        switch Boundary(after: rest[(start + delimiter.count)...]) {
        case .undecided: return false
        case .none:
            // The next delimiter may begin anywhere behind the first byte of what only looked like one.
            if state == .body { try sink.partContinued(rest.prefix(1)) }
            rest = rest.dropFirst()
        case .last:
            if state == .body { try sink.partEnded() }
            state = .finished
        case .next(let headers):
            if state == .body { try sink.partEnded() }
            // Which line ends belong to the boundaries, and which to the parts, is known from here on.
            if state == .preamble, rest[headers - 2] == 0x0D { delimiter = [0x0D] + delimiter }
            state = .headers
            rest = rest[headers...]
        }
        return true
    }

    private mutating func readHeaders(
        _ rest: inout ArraySlice<UInt8>, into sink: some MultipartSink
    ) throws(APIError) -> Bool {
        var headers = Headers()
        var cursor = rest
        while let end = cursor.firstIndex(of: 0x0A) {
            let line = cursor[..<end].last == 0x0D ? cursor[..<end].dropLast() : cursor[..<end]
            cursor = cursor[(end + 1)...]
            if line.isEmpty {
                state = .body
                rest = cursor
                try sink.partBegan(headers)
                return true
            }
            if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                headers.append(
                    String(decoding: line[..<colon], as: UTF8.self),
                    String(decoding: line[(colon + 1)...].drop { $0 == 0x20 }, as: UTF8.self))
            }
        }
        guard rest.count <= Self.longestHeaders else { throw .invalid("A part's headers are too long.") }
        return false
    }

    private static func parameter(_ name: String, of header: String) -> String? {
        for item in header.split(separator: ";").dropFirst() {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, pair[0].drop(while: { $0 == " " }).lowercased() == name else { continue }
            return String(pair[1].drop { $0 == " " || $0 == "\"" || $0 == "'" }.prefix { $0 != "\"" && $0 != "'" })
        }
        return nil
    }
}

/// What a delimiter turns out to be by what follows it: nothing but blanks up to the line's end, or two hyphens.
private enum Boundary {
    case next(headers: Int)
    case last
    case none
    case undecided

    init(after text: ArraySlice<UInt8>) {
        if text.starts(with: "--".utf8) {
            self = .last
            return
        }
        let rest = text.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let end = rest.first == 0x0D ? rest.dropFirst() : rest
        if let byte = end.first {
            self = byte == 0x0A ? .next(headers: end.startIndex + 1) : .none
            // One hyphen may be the first of two.
            if byte == UInt8(ascii: "-"), text.count == 1 { self = .undecided }
        } else {
            self = .undecided
        }
    }
}
