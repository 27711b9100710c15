/// A `login` as typed.
struct LoginRequest: Sendable, Equatable {
    var email: Text?
    var isAnonymous = false
    var customTokenFile: TypedPath?
    var apiKey: Text?
    var project: Text?

    init(parsing words: [String]) throws(UsageError) {
        let operands = try ArgumentParser(options: Self.options).parse(words, into: &self)
        if let first = operands.first {
            // A password among the words would show in the list of processes and stay in the shell's history.
            throw UsageError("'\(first)' is one word too many; the password is asked for, or read from standard input")
        }
        let ways = [
            (email != nil, "--email"), (isAnonymous, "--anonymous"), (customTokenFile != nil, "--custom-token-file"),
        ]
        .filter(\.0).map(\.1)
        guard let first = ways.first else {
            throw UsageError("say how to sign in: --email E, --anonymous or --custom-token-file FILE")
        }
        guard ways.count == 1 else { throw UsageError("\(first) and \(ways[1]) exclude each other; keep one of them") }
    }

    static let options: [Option<LoginRequest>] = [
        Option("email", "E", sets: \.email, "sign in with this address; the password is asked for, or read from stdin"),
        Option("anonymous", turnsOn: \.isAnonymous, "sign in as a new user without a name"),
        Option("custom-token-file", "FILE", sets: \.customTokenFile, "sign in with a token that your server has made"),
        Option("api-key", "K", sets: \.apiKey, "the project's web API key, from its settings in the Firebase console"),
        Option("project", "P", sets: \.project, "refuse a key that belongs to another project than this"),
    ]
}
