/// Sends requests and streams their answers. The one conformer that reaches a network is `CurlTransport`; the other
/// plays answers for tests.
package protocol HTTPTransport: Sendable {
    /// Starts `request` and returns at once. `handler` is kept until its completion.
    @discardableResult
    func send(_ request: HTTPRequest, to handler: any HTTPResponseHandler) -> any HTTPTransfer
}
