/// Gathers the head of an answer from the lines that curl hands over. Interim (1xx) heads and trailers are dropped.
struct ResponseHeadParser {
    enum Event {
        case more
        case head(HTTPResponseHead)
        case tooLong
    }

    /// Bytes. A head with all the custom metadata that Google Cloud Storage allows (8 KiB) fits several times.
    static let limit = 128 << 10

    /// The final head has been handed out.
    private(set) var isComplete = false
    private var status = 0
    private var headers: [(name: String, value: String)] = []
    private var size = 0

    /// - Parameter line: one line with its end, as it came.
    mutating func read(_ line: UnsafeRawBufferPointer) -> Event {
        // What follows the final head are trailers.
        guard !isComplete else { return .more }
        size += line.count
        guard size <= Self.limit else { return .tooLong }
        let line = unsafe Self.trimmed(line)
        if unsafe line.isEmpty { return endOfHead() }
        if unsafe line.starts(with: "HTTP/".utf8) {
            status = unsafe Self.status(line)
            headers.removeAll(keepingCapacity: true)
        } else {
            unsafe append(line)
        }
        return .more
    }

    private mutating func endOfHead() -> Event {
        size = 0
        guard status >= 200 else { return .more }
        isComplete = true
        return .head(HTTPResponseHead(status: status, headers: headers))
    }

    private mutating func append(_ line: Slice<UnsafeRawBufferPointer>) {
        guard let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = unsafe String(decoding: line[..<colon].lazy.map(Self.lowercased), as: UTF8.self)
        let value = unsafe Self.trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
        unsafe headers.append((name, String(decoding: value, as: UTF8.self)))
    }

    /// The number after the first space; curl has refused lines without one.
    private static func status(_ line: Slice<UnsafeRawBufferPointer>) -> Int {
        let digits = unsafe line.drop { $0 != UInt8(ascii: " ") }.dropFirst().prefix { (0x30...0x39).contains($0) }
        return unsafe digits.reduce(0) { $0 &* 10 &+ Int($1 &- 0x30) }
    }

    private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var rest = unsafe bytes[...]
        while let last = unsafe rest.last, isBlank(last) { unsafe rest.removeLast() }
        while let first = unsafe rest.first, isBlank(first) { unsafe rest.removeFirst() }
        return unsafe rest
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}
