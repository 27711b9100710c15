/// Takes a request's body piece by piece, then answers. One request, one thread at a time.
protocol BodyReceiver: AnyObject {
    /// Where in the object the next byte belongs.
    var position: Int64 { get }
    /// Whether `finish` makes an object, all bytes being there.
    var completesObject: Bool { get }

    func receive(_ bytes: RawSpan) throws(APIError)
    func finish() throws(APIError) -> Response
    /// The body will not be completed: the connection is gone, or the request has failed.
    func abandon()
}

extension BodyReceiver {
    func abandon() {}
}

/// A body that is small enough to be held: metadata, a batch, nothing.
final class DocumentReceiver: BodyReceiver {
    let completesObject = false
    private var bytes: [UInt8] = []
    private let limit: Int
    private let answer: ([UInt8]) throws(APIError) -> Response

    init(limit: Int, answer: @escaping ([UInt8]) throws(APIError) -> Response) {
        self.limit = limit
        self.answer = answer
    }

    var position: Int64 { Int64(bytes.count) }

    func receive(_ piece: RawSpan) throws(APIError) {
        guard bytes.count + piece.byteCount <= limit else {
            throw APIError(status: 413, reason: "uploadTooLarge", message: "The request body is over \(limit) bytes.")
        }
        bytes.append(piece)
    }

    func finish() throws(APIError) -> Response { try answer(bytes) }
}
