package import Logging

/// The transport that reaches a network, on libcurl: one thread owns every connection.
///
/// Requests may come from any thread and wait in no caller. Connections are kept alive (HTTP/1.1) and TLS sessions are
/// resumed. Redirects are not followed and bodies are not decoded. Proxies come from the environment as curl reads it,
/// but a loopback host is always reached directly.
package final class CurlTransport: HTTPTransport {
    package struct Configuration: Sendable {
        /// Further requests to the same host wait for a free connection.
        package var maxConnectionsPerHost = 128
        /// The longest that name look-up, connecting and the TLS handshake may take together.
        package var connectLimit: Duration = .seconds(10)
        /// The longest no byte may move in either direction, for requests that name no limit of their own.
        package var stallLimit: Duration = .seconds(60)
        package var userAgent = "Firemount/0.1"
        /// Path of a PEM file with the certificate authorities to trust; nil: the system's.
        package var certificateAuthorities: String?

        package init() {}
    }

    private let loop: TransferLoop
    private let thread: LoopThread

    package init(configuration: Configuration = Configuration(), log: Logger) {
        let loop = TransferLoop(configuration: configuration, log: log)
        self.loop = loop
        thread = LoopThread { loop.run() }
    }

    deinit { shutDown() }

    /// Ends every request under way with `.cancelled`, waits for that, and refuses later ones the same way.
    /// Called by a handler, it does not wait.
    package func shutDown() {
        loop.stop()
        thread.join()
    }

    @discardableResult
    package func send(_ request: HTTPRequest, to handler: any HTTPResponseHandler) -> any HTTPTransfer {
        let transfer = Transfer(request, handler: handler, loop: loop)
        loop.submit(transfer)
        return transfer
    }
}
