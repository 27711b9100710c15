import Glibc

/// Is told the parts of a multipart body as they pass by.
protocol MultipartSink {
    func partBegan(_ headers: Headers) throws(APIError)
    func partContinued(_ bytes: ArraySlice<UInt8>) throws(APIError)
    func partEnded() throws(APIError)
}

/// Takes a `multipart/…` body apart while it streams in, whatever the pieces it arrives in (RFC 2046, section 5.1).
struct MultipartReader {
    private enum State {
        case preamble, headers, body, finished
    }

    /// More header bytes than any part needs.
    private static let longestHeaders = 65_536

    private let delimiter: [UInt8]
    private var state = State.preamble
    /// What was read but not understood yet. It starts as a line end, because a boundary is a line of its own.
    private var pending: [UInt8] = [0x0D, 0x0A]

    var isFinished: Bool { state == .finished }

    /// - Parameter contentType: the header that names the boundary.
    init(contentType: String?) throws(APIError) {
        guard let contentType, contentType.lowercased().hasPrefix("multipart/"),
            let boundary = Self.parameter("boundary", of: contentType), !boundary.isEmpty
        else { throw .invalid("The Content-Type must be multipart with a boundary.") }
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    mutating func read(_ bytes: UnsafeRawBufferPointer, into sink: some MultipartSink) throws(APIError) {
        guard state != .finished else { return }
        unsafe pending.append(contentsOf: bytes)
        var rest = pending[...]
        while try step(&rest, into: sink) {}
        pending = Array(rest)
    }

    /// Understands as much as one state can.
    /// - Returns: whether the next state should have a look.
    private mutating func step(_ rest: inout ArraySlice<UInt8>, into sink: some MultipartSink) throws(APIError) -> Bool
    {
        switch state {
        case .finished: return false
        case .headers: return try readHeaders(&rest, into: sink)
        case .preamble, .body: return try readToDelimiter(&rest, into: sink)
        }
    }

    private mutating func readToDelimiter(
        _ rest: inout ArraySlice<UInt8>, into sink: some MultipartSink
    ) throws(APIError) -> Bool {
        guard let start = firstRange(of: delimiter, in: rest) else {
            let safe = rest.prefix(max(0, rest.count - delimiter.count + 1))
            if state == .body, !safe.isEmpty { try sink.partContinued(safe) }
            rest = rest[safe.endIndex...]
            return false
        }
        let behind = rest[(start + delimiter.count)...]
        let isLast = behind.starts(with: "--".utf8)
        guard isLast || behind.contains(0x0A) else {
            // The boundary's line is not all there; hand over what precedes it and wait.
            if state == .body, start > rest.startIndex { try sink.partContinued(rest[..<start]) }
            rest = rest[start...]
            return false
        }
        if state == .body {
            if start > rest.startIndex { try sink.partContinued(rest[..<start]) }
            try sink.partEnded()
        }
        state = isLast ? .finished : .headers
        rest = isLast ? [] : behind[(behind.firstIndex(of: 0x0A)! + 1)...]
        return !isLast
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
            let pair = item.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].drop(while: { $0 == " " }).lowercased() == name else { continue }
            return String(pair[1].drop { $0 == " " || $0 == "\"" || $0 == "'" }.prefix { $0 != "\"" && $0 != "'" })
        }
        return nil
    }
}

/// Where `pattern` first begins in `bytes`.
private func firstRange(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    let offset: Int? = unsafe bytes.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return nil }
        var offset = 0
        while offset + pattern.count <= bytes.count {
            let found = unsafe memchr(base + offset, Int32(pattern[0]), bytes.count - offset - pattern.count + 1)
            guard let found = unsafe found else { return nil }
            offset = unsafe UnsafeRawPointer(found) - base
            if unsafe memcmp(base + offset, pattern, pattern.count) == 0 { return offset }
            offset += 1
        }
        return nil
    }
    return offset.map { bytes.startIndex + $0 }
}
