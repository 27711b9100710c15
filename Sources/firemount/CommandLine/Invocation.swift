/// What a command line asks for.
enum Invocation: Sendable, Equatable {
    case mount(MountRequest)
    /// mount(8) only wanted to know whether the line is right.
    case checkedMount
    case unmount(UnmountRequest)
    case refresh(RefreshRequest)
    case status(StatusRequest)
    case transfers(TransferRequest)
    case recover(RecoverRequest)
    case serve(ServeSettings)
    case demo(DemoRequest)
    case login(LoginRequest)
    case logout
    case whoami
    case help(Verb?)
    case version

    /// - Parameter arguments: all words, the program's own name first.
    init(parsing arguments: [String]) throws(UsageError) {
        let program = arguments.first?.split(separator: "/").last ?? "firemount"
        let words = Array(arguments.dropFirst())
        if program == "mount.firemount" {
            if words.first == "--help" || words.first == "-h" {
                self = .help(.mount)
                return
            }
            let request = try Self.usage("mount.firemount gs://BUCKET[/PREFIX] DIR [-sfnv] [-o LIST]") {
                () throws(UsageError) in try MountHelperRequest(parsing: words)
            }
            self = request.isFake ? .checkedMount : .mount(request.mount)
            return
        }
        guard let first = words.first else {
            throw UsageError("no command is named", usage: "firemount COMMAND …; firemount --help lists the commands")
        }
        switch first {
        case "--version", "version": self = .version
        case "--help", "-h": self = .help(nil)
        case "help":
            self = .help(
                try words.dropFirst().first.map { (word) throws(UsageError) in
                    try Verb(spelling: word)
                })
        case _ where first.hasPrefix("gs:") || first.hasPrefix("-"): self = try Invocation(.mount, words)
        default: self = try Invocation(Verb(spelling: first, operands: words.count - 1), Array(words.dropFirst()))
        }
    }

    private init(_ verb: Verb, _ words: [String]) throws(UsageError) {
        if words.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            self = .help(verb)
            return
        }
        self = try Self.usage(verb.usage) { () throws(UsageError) in
            switch verb {
            case .mount: .mount(try MountRequest(parsing: words))
            case .unmount: .unmount(try UnmountRequest(parsing: words))
            case .refresh: .refresh(try RefreshRequest(parsing: words))
            case .status: .status(try StatusRequest(parsing: words))
            case .pause: .transfers(try TransferRequest(.pause, parsing: words))
            case .resume: .transfers(try TransferRequest(.resume, parsing: words))
            case .cancel: .transfers(try TransferRequest(.cancel, parsing: words))
            case .recover: .recover(try RecoverRequest(parsing: words))
            case .serve: .serve(try ServeSettings(parsing: words))
            case .demo: .demo(try DemoRequest(parsing: words))
            case .login: .login(try LoginRequest(parsing: words))
            case .logout: try Self.bare(.logout, words)
            case .whoami: try Self.bare(.whoami, words)
            }
        }
    }

    /// A command that takes no words.
    private static func bare(_ invocation: Invocation, _ words: [String]) throws(UsageError) -> Invocation {
        var none: Void = ()
        let operands = try ArgumentParser<Void>(options: []).parse(words, into: &none)
        if let first = operands.first { throw UsageError("'\(first)' is one word too many") }
        return invocation
    }

    /// Runs `body`; a mistake that belongs to no option shows `usage`.
    private static func usage<Result>(
        _ usage: String, _ body: () throws(UsageError) -> Result
    ) throws(UsageError) -> Result {
        do throws(UsageError) { return try body() } catch { throw error.withUsage(usage) }
    }
}

/// The commands.
enum Verb: String, CaseIterable, Sendable {
    case mount, unmount, status, pause, resume, cancel, refresh, recover, serve, demo, login, logout, whoami

    /// - Parameter operands: how many words follow. With some, what is no command may be a bucket to mount.
    init(spelling: String, operands: Int = 0) throws(UsageError) {
        if spelling == "umount" {
            self = .unmount
        } else if let verb = Verb(rawValue: spelling) {
            self = verb
        } else {
            let near = nearest(to: spelling, among: Verb.allCases.map(\.rawValue))
            let isPerhapsBucket = near == nil && operands > 0 && (try? BucketSpelling(spelling)) != nil
            throw UsageError(
                "unknown command '\(spelling)'" + (near.map { "; did you mean \($0)?" } ?? ""),
                usage: "firemount COMMAND …; firemount --help lists them"
                    + (isPerhapsBucket ? "; a bucket is written gs://\(spelling)" : ""))
        }
    }

    var usage: String {
        switch self {
        case .mount: "firemount [mount] gs://BUCKET[/PREFIX] MOUNTPOINT [options]"
        case .unmount: "firemount unmount MOUNTPOINT"
        case .status: "firemount status [MOUNTPOINT] [--watch] [--json]"
        case .pause: "firemount pause MOUNTPOINT [ID]"
        case .resume: "firemount resume MOUNTPOINT [ID]"
        case .cancel: "firemount cancel MOUNTPOINT [ID]"
        case .refresh: "firemount refresh PATH"
        case .recover:
            "firemount recover [MOUNTPOINT|gs://BUCKET] | export ID FILE | retry ID | store ID --as NAME | discard ID"
        case .serve: "firemount serve [--data DIR] [--port N] [--bucket NAME]… [options]"
        case .demo: "firemount demo [MOUNTPOINT]"
        case .login: "firemount login --email E | --anonymous | --custom-token-file FILE [options]"
        case .logout: "firemount logout"
        case .whoami: "firemount whoami"
        }
    }
}
