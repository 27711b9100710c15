/// An answer: the head, and where the body comes from.
struct Response {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: Body = .bytes([])

    enum Body {
        case bytes([UInt8])
        /// Part of a stored file, sent by the kernel.
        case file(OpenFile, offset: Int64, length: Int64)
        /// Bytes made while they are sent; chunked when `length` is nil.
        case stream(any ByteSource, length: Int64?)
        /// No answer at all: the connection is reset.
        case reset
    }

    init(status: Int, headers: [(String, String)] = [], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    init(status: Int = 200, json: [UInt8]) {
        self.init(status: status, headers: [("Content-Type", "application/json; charset=UTF-8")], body: .bytes(json))
    }

    static var noContent: Response { Response(status: 204) }

    var length: Int64? {
        switch body {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, _, let length): length
        case .stream(_, let length): length
        case .reset: 0
        }
    }
}

/// Makes a body while it is sent. Owned by one response, called by one thread at a time.
protocol ByteSource: AnyObject {
    /// What comes next, at most `limit` bytes of it.
    func next(_ limit: Int) -> ByteSourceStep
}

enum ByteSourceStep {
    /// At least one byte.
    case bytes([UInt8])
    case end
    /// The connection breaks off here.
    case broken
    /// Nothing for so long; then ask again.
    case pause(Duration)
}
