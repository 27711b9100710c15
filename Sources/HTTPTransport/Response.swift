/// Status and headers of an answer. 1xx answers are never reported.
package struct HTTPResponseHead: Sendable {
    package let status: Int
    /// In the order received; names in lower case.
    package let headers: [(name: String, value: String)]
    /// The request went out twice, as a kept connection broke under the first: the server may have acted on both.
    package var answersSecondTry = false

    package init(status: Int, headers: [(name: String, value: String)]) {
        self.status = status
        self.headers = headers
    }

    /// The first value of header `name` (lower case); nil when absent or empty.
    package func first(_ name: String) -> String? {
        headers.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// All values of header `name` (lower case), joined with commas as RFC 9110 allows.
    package func joined(_ name: String) -> String {
        headers.filter { $0.name == name }.map(\.value).joined(separator: ",")
    }
}

/// Receives one answer: the head once, then its body, then one completion. All calls come on the transport's one
/// thread, in this order, never concurrently; they must be short and never wait.
package protocol HTTPResponseHandler: AnyObject, Sendable {
    /// Return false to abort (completes with `.cancelled`).
    func received(head: HTTPResponseHead) -> Bool
    /// A piece of the body, valid only during the call. Return false to abort (completes with `.cancelled`).
    func received(bytes: UnsafeRawBufferPointer) -> Bool
    /// Always called exactly once. Success says that a whole answer came, whatever its status; a body shorter than
    /// its announced length is a failure.
    func completed(_ result: Result<Void, TransportError>)
}

/// A request under way.
package protocol HTTPTransfer: Sendable {
    /// Ends the request as soon as the transport's thread sees it; the handler gets `.cancelled`. Any thread, any time.
    func cancel()
}
