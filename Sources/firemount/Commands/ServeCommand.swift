import BucketServer
import Glibc

/// `firemount serve`: the local server, until Ctrl-C or SIGTERM.
struct ServeCommand {
    private let configuration: LocalServer.Configuration

    /// What emulators of Cloud Storage for Firebase listen on.
    private static let defaultPort: UInt16 = 9_199

    init(_ settings: ServeSettings, _ environment: ProcessEnvironment) throws(CommandFailure) {
        guard
            let directory = settings.dataDirectory.map(environment.absolutePath)
                ?? environment.dataHome.map({ "\($0)/firemount/server" })
        else {
            throw CommandFailure("there is no HOME to keep the buckets in; name a place with --data")
        }
        var configuration = LocalServer.Configuration(dataDirectory: directory)
        configuration.host = settings.host?.text ?? configuration.host
        configuration.port = settings.port?.number ?? Self.defaultPort
        configuration.buckets = settings.buckets
        configuration.hierarchicalBuckets = settings.hierarchicalBuckets
        configuration.rulesFile = settings.rules.map(environment.absolutePath)
        configuration.log = { printLine("firemount: \($0)", to: STDERR_FILENO) }
        configuration.project = settings.project?.text ?? configuration.project
        configuration.tokenLifetime = settings.tokenLifetime ?? configuration.tokenLifetime
        configuration.blocksExecutables = settings.blocksExecutables
        self.configuration = configuration
    }

    func run() throws(CommandFailure) {
        // Before any thread is made, so that all of them leave these signals to us.
        let signals = Self.blockedEndingSignals()
        let directory = configuration.dataDirectory
        do throws(SystemError) { try Files.makeDirectories(directory) } catch {
            throw CommandFailure("cannot use the data directory \(directory): \(error); name another with --data")
        }
        let server = try LocalServer.started(configuration)
        printLine(
            "Serving \(bucketsText) on \(server.url) from \(directory); for development and tests: "
                + (configuration.rulesFile.map { "\($0) decides about Firebase requests" }
                    ?? "everyone who can reach it may do everything"))
        let bucket = configuration.buckets.first ?? "BUCKET"
        printLine("Mount it: firemount gs://\(bucket) DIRECTORY --anonymous --endpoint \(server.url)")
        Self.waitForOne(of: signals)
        server.server.stop()
    }

    private var bucketsText: String {
        switch configuration.buckets.count {
        case 0: "buckets"
        case 1: "bucket \(configuration.buckets[0])"
        default: "buckets " + configuration.buckets.joined(separator: ", ")
        }
    }

    private static func blockedEndingSignals() -> sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        // A client that goes away is no reason to end.
        Glibc.signal(SIGPIPE, SIG_IGN)
        return signals
    }

    private static func waitForOne(of signals: sigset_t) {
        var signals = signals
        var signal: Int32 = 0
        while unsafe sigwait(&signals, &signal) != 0 {}
    }
}

extension LocalServer {
    /// Listens. The URL is how this machine reaches it.
    static func started(
        _ configuration: Configuration
    ) throws(CommandFailure) -> (server: LocalServer, url: String) {
        do throws(ServerError) {
            let server = try LocalServer(configuration)
            let port = try server.start()
            let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
            return (server, "http://\(host):\(port)")
        } catch {
            throw CommandFailure("cannot serve: \(error)")
        }
    }
}
