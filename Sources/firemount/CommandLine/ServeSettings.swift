/// A `serve` as typed.
struct ServeSettings: Sendable, Equatable {
    var dataDirectory: TypedPath?
    var host: HostName?
    var port: Port?
    var buckets: [String] = []
    var hierarchicalBuckets: [String] = []
    var rules: TypedPath?
    var project: FirebaseProject?
    var tokenLifetime: Duration?
    var blocksExecutables = false
    /// Listening beyond this machine is wanted.
    var isExposed = false

    init(parsing words: [String]) throws(UsageError) {
        let operands = try ArgumentParser(options: Self.options).parse(words, into: &self)
        if let first = operands.first { throw UsageError("'\(first)' is one word too many") }
        if let host, !isLoopback(host.text), !isExposed {
            throw UsageError(
                "--host \(host.text) lets others in, and the server trusts everyone; add --expose to allow it"
            )
        }
    }

    static let options: [Option<ServeSettings>] = [
        Option("data", "DIR", sets: \.dataDirectory, "where the objects are kept ($XDG_DATA_HOME/firemount/server)"),
        Option("port", sets: \.port, "port to listen on; 0 takes a free one (9199)"),
        Option(
            "bucket", placeholder: "NAME", isMountOption: false,
            help: "make this bucket if it is not there; may come often"
        ) { (settings, name) throws(UsageError) in
            let spelling = try BucketSpelling(name)
            guard spelling.prefix.isEmpty else { throw UsageError("'\(name)' has a prefix; a bucket has none") }
            settings.buckets.append(spelling.bucket)
        },
        Option(
            "hierarchical-bucket", placeholder: "NAME", isMountOption: false,
            help: "the same, with folders of its own (hierarchical namespace)"
        ) { (settings, name) throws(UsageError) in
            let spelling = try BucketSpelling(name)
            guard spelling.prefix.isEmpty else { throw UsageError("'\(name)' has a prefix; a bucket has none") }
            settings.hierarchicalBuckets.append(spelling.bucket)
        },
        Option("rules", "FILE", sets: \.rules, "Security Rules for Firebase requests; read again when they change"),
        Option("project", sets: \.project, "Firebase project that ID tokens are for (demo-firemount)"),
        Option("token-lifetime", sets: \.tokenLifetime, "how long a Firebase ID token is good for (1h)"),
        Option(
            "block-executables", turnsOn: \.blocksExecutables,
            "refuse Firebase uploads of .exe, .dll, .bat, .apk and .ipa, as the free plan does"),
        Option("host", sets: \.host, "address to listen on (127.0.0.1)"),
        Option("expose", turnsOn: \.isExposed, "allow a --host that other machines can reach"),
    ]
}

/// Whether a host names this machine alone.
private func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1" || host.hasPrefix("127.")
}
