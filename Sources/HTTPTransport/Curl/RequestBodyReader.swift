/// Where curl's read callback stands in a body that is not handed over whole.
struct RequestBodyReader {
    /// Bodies up to this size are copied to curl, which sends them in one piece with the head.
    static let copiedSize = 64 << 10

    private let body: HTTPBody
    private let length: Int64
    /// The next byte to send.
    var offset: Int64 = 0

    /// nil if `body` is none or small enough to be copied.
    init?(_ body: HTTPBody) {
        switch body {
        case .none: return nil
        case .bytes(let bytes):
            guard bytes.count > Self.copiedSize else { return nil }
            length = Int64(bytes.count)
        case .stream(_, let length): self.length = length
        }
        self.body = body
    }

    /// - Returns: how many bytes were put into `buffer`; 0 at the announced end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
        let count = Int(min(Int64(buffer.count), length - offset))
        guard count > 0 else { return 0 }
        let read = try unsafe pull(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
        guard (1...count).contains(read) else {
            throw TransportError(.bodySource, "the request's body ended \(length - offset) bytes early")
        }
        offset += Int64(read)
        return read
    }

    private func pull(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
        switch body {
        case .none: return 0
        case .bytes(let bytes):
            let start = Int(offset)
            unsafe bytes.withUnsafeBytes { bytes in
                let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<start + buffer.count])
                unsafe buffer.copyMemory(from: piece)
            }
            return buffer.count
        case .stream(let source, _):
            do {
                return try unsafe source.read(at: offset, into: buffer)
            } catch {
                throw TransportError(.bodySource, "the request's body could not be read: \(error)")
            }
        }
    }
}
