import Locking

/// A Cloud Storage server of one's own, durable on disk: for development and tests. Any thread may call it.
///
/// It shares no code with the client, so that the two check each other.
package final class LocalServer: Sendable {
    package struct Configuration: Sendable {
        /// Where the index and the bytes are; made if it is not there.
        package var dataDirectory: String
        /// The address to listen on. The caller answers for opening it to others.
        package var host = "127.0.0.1"
        /// 0 takes any free port.
        package var port: UInt16 = 0
        /// The one bearer token that the JSON API lets in; nil lets everybody in.
        package var acceptedToken: String?
        /// The Firebase project that ID tokens are for.
        package var project = "demo-firemount"
        /// How long an ID token is good for; rounded up to whole seconds.
        package var tokenLifetime = Duration.seconds(3600)
        /// Buckets made at the start, unless they are there.
        package var buckets: [String] = []
        /// The same, with folders.
        package var hierarchicalBuckets: [String] = []
        /// Whether Firebase uploads of programs are refused by their names, as the service's free plan does.
        package var blocksExecutables = false
        /// Whether uploads get an MD5. It is what bounds uploads (1.6 processor seconds a gigabyte).
        package var computesMD5 = true
        /// How far one rewrite call gets, so that callers meet rewrite tokens.
        package var maxBytesRewrittenPerCall = Int64.max
        /// The Security Rules that Firebase requests are under (docs/RULES.md); nil lets everybody do everything.
        package var rulesFile: String?
        /// Gets a line when rules are read and when they call `debug()`. Any thread may call it.
        package var log: @Sendable (String) -> Void = { _ in }

        package init(dataDirectory: String) { self.dataDirectory = dataDirectory }
    }

    private enum State {
        case idle
        case running(HTTPDaemon)
        case stopped
    }

    private let configuration: Configuration
    private let service: Service
    private let state = Lock(State.idle)

    /// Opens the data directory.
    /// - Throws: when it cannot be used, or an index of another version is in it.
    package init(_ configuration: Configuration) throws(ServerError) {
        self.configuration = configuration
        service = try Service(configuration)
    }

    deinit { stop() }

    /// Begins to answer. Once.
    /// - Returns: the port it listens on.
    /// - Throws: when the address cannot be listened on.
    package func start() throws(ServerError) -> UInt16 {
        let socket = try ListeningSocket(host: configuration.host, port: configuration.port)
        let daemon = try HTTPDaemon(service: service, socket: socket)
        service.listener.withLock { $0 = socket }
        state.withLock { $0 = .running(daemon) }
        return socket.port
    }

    /// Ends every connection; what was answered is on disk. Safe to call twice.
    package func stop() {
        let daemon = state.withLock { state -> HTTPDaemon? in
            defer { state = .stopped }
            return if case .running(let daemon) = state { daemon } else { nil }
        }
        daemon?.stop()
        service.directoryLock.release()
    }
}
