import Locking

/// Long-running operations. Here they are done when they begin; the first answer still says that they are not, because
/// the service's says so, and clients must be able to poll.
final class Operations: Sendable {
    /// More than anybody polls at a time; the oldest are forgotten all at once.
    private static let most = 10_000

    private let responses = Lock<[String: [UInt8]]>([:])

    /// Notes an operation's outcome.
    /// - Parameter response: a JSON object.
    /// - Returns: the answer of the call that began it.
    func begin(bucket: String, response: [UInt8]) -> Response {
        let name = "projects/_/buckets/\(bucket)/operations/\(randomID())"
        responses.withLock { responses in
            if responses.count >= Self.most { responses.removeAll() }
            responses[name] = response
        }
        return Response(json: document(name, response: nil))
    }

    /// - Throws: 404 when nobody began it.
    func poll(bucket: String, id: String) throws(APIError) -> Response {
        let name = "projects/_/buckets/\(bucket)/operations/\(id)"
        guard let response = responses.withLock({ $0[name] }) else { throw .notFound("the operation \(id)") }
        return Response(json: document(name, response: response))
    }

    private func document(_ name: String, response: [UInt8]?) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.string("kind", "storage#operation")
            json.string("name", name)
            json.bool("done", response != nil)
            if let response { json.raw("response", response) }
        }
        return json.bytes
    }
}
