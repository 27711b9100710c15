/// One HTTP request as the transport sends it. Header names are sent as spelled; values hold no CR or LF.
package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    package var method: Method
    /// Absolute `http` or `https` URL, already percent-encoded; sent as it stands.
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body: HTTPBody
    /// The longest this request may take altogether; nil: only the stall limit holds.
    package var deadline: Duration?
    /// The longest no byte may move in either direction (waiting for the answer included). Default: the transport's.
    package var stallLimit: Duration?

    package init(
        _ method: Method, _ url: String, headers: [(name: String, value: String)] = [], body: HTTPBody = .none,
        deadline: Duration? = nil, stallLimit: Duration? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.deadline = deadline
        self.stallLimit = stallLimit
    }
}

/// What a request carries.
package enum HTTPBody: Sendable {
    case none
    case bytes([UInt8])
    /// Pulled from `source` on the transport's thread, exactly `length` bytes from the source's start.
    case stream(any HTTPBodySource, length: Int64)
}

/// Bytes of a request body, pulled while they are sent. Called on the transport's thread; must not wait for the
/// network.
package protocol HTTPBodySource: Sendable {
    /// Fills `buffer` with the bytes at `offset`; returns how many (at least 1 before the announced end), or throws
    /// to abort the request with `TransportError.Kind.bodySource`.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}
