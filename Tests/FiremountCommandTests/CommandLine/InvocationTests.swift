import Testing

@testable import firemount

struct InvocationTests {
    @Test(arguments: [
        ("--version", Invocation.version), ("version", .version), ("--help", .help(nil)), ("help", .help(nil)),
    ])
    func theWholeProgramIsAskedAbout(word: String, invocation: Invocation) throws {
        #expect(try Invocation(parsing: ["firemount", word]) == invocation)
    }

    @Test(arguments: Verb.allCases)
    func everyCommandHasHelp(verb: Verb) throws {
        #expect(try Invocation(parsing: ["firemount", verb.rawValue, "--help"]) == .help(verb))
        #expect(try Invocation(parsing: ["firemount", "help", verb.rawValue]) == .help(verb))
        #expect(HelpText.text(for: verb).hasPrefix("Usage: firemount "))
        #expect(HelpText.text(for: nil).contains(" \(verb.rawValue)") || verb == .mount)
    }

    @Test func helpNamesEveryOptionAndFitsATerminal() {
        let help = HelpText.text(for: .mount)
        for option in MountSettings.options { #expect(help.contains("--\(option.name)")) }
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }

    @Test(arguments: [
        (["firemount"], "no command"), (["firemount", "unmont", "/m"], "did you mean unmount?"),
        (["firemount", "sync"], "unknown command 'sync'"), (["firemount", "unmount"], "no mount point"),
        (["firemount", "unmount", "/a", "/b"], "one word too many"), (["firemount", "demo", "/a", "/b"], "too many"),
        (["firemount", "unmount", "--wat", "/a"], "unknown option --wat"),
        (["firemount", "serve", "--port", "99999"], "'99999' is no value for --port"),
        (["firemount", "serve", "--host", "0.0.0.0"], "--expose"),
        (["firemount", "serve", "--bucket", "a/b"], "no bucket"),
        (["firemount", "serve", "b"], "one word too many"),
        (["firemount", "status", "/a", "/b"], "one word too many"), (["firemount", "pause"], "no mount point"),
        (["firemount", "cancel", "/a", "x"], "no upload's number"),
        (["firemount", "resume", "/a", "1", "2"], "too many"),
    ])
    func mistakesAreNamed(words: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try Invocation(parsing: words) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.usage?.isEmpty == false)
    }

    /// What was meant is said, and nothing that was not.
    @Test(arguments: [
        (["monut", "X", "/m"], "did you mean mount?", false), (["help", "nope"], "unknown command 'nope'", false),
        (["nope"], "unknown command 'nope'", false), (["my-bucket", "/m"], "unknown command 'my-bucket'", true),
        (["Bad,Bucket", "/m"], "unknown command", false),
    ])
    func aWordThatIsNoCommandIsABucketOnlyWhereItMayBeOne(words: [String], message: String, isBucket: Bool) {
        let error = #expect(throws: UsageError.self) { try Invocation(parsing: ["firemount"] + words) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.usage?.contains("firemount --help lists them") == true)
        #expect(error?.usage?.contains("gs://\(words[0])") == isBucket, "\(error?.usage ?? "")")
    }

    @Test(arguments: [
        ["gs:/mine", "/m"], ["mount", "gs:/mine", "/m"], ["mount", "gs:mine", "/m"], ["recover", "gs:/mine"],
    ])
    func aSlashTooFewIsNamed(words: [String]) {
        let error = #expect(throws: UsageError.self) { try Invocation(parsing: ["firemount"] + words) }
        #expect(error?.message.hasSuffix("is no bucket; did you mean gs://mine?") == true, "\(error?.message ?? "")")
    }

    @Test func serveTakesSeveralBuckets() throws {
        let words = ["firemount", "serve", "--bucket", "a", "--bucket=b", "--port", "0", "--data", "d"]
        guard case .serve(let settings) = try Invocation(parsing: words) else { throw UsageError("no serve") }
        #expect(settings.buckets == ["a", "b"])
        #expect(settings.port?.number == 0)
        #expect(settings.dataDirectory?.text == "d")
    }

    @Test(arguments: ["127.0.0.1", "localhost", "::1", "127.1.2.3"])
    func loopbackHostsNeedNoFurtherWord(host: String) throws {
        #expect(throws: Never.self) { try Invocation(parsing: ["firemount", "serve", "--host", host]) }
    }

    @Test func umountIsUnmount() throws {
        #expect(
            try Invocation(parsing: ["firemount", "umount", "/m"])
                == Invocation(parsing: ["firemount", "unmount", "/m"]))
    }
}
