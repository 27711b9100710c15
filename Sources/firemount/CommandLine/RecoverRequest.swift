/// A `recover` as typed.
struct RecoverRequest: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        /// A bucket's, a mount point's, or all.
        case list(Target?, asJSON: Bool)
        case retry(Target?)
        case retryOne(String)
        /// - `isAlone`: only what was written here.
        case export(String, into: TypedPath, isAlone: Bool)
        case store(String, as: String)
        case discard(String)
    }

    enum Target: Sendable, Equatable {
        case bucket(String)
        case mountPoint(TypedPath)
    }

    var action: Action
    /// How the bucket is reached where no mount has the journal.
    var mount: MountSettings

    init(parsing words: [String]) throws(UsageError) {
        var settings = RecoverSettings()
        let operands = try ArgumentParser(options: RecoverSettings.options).parse(words, into: &settings)
        mount = settings.mount
        let rest = Array(operands.dropFirst())
        switch operands.first {
        case "export":
            guard rest.count == 2, let path = TypedPath(spelling: rest[1]) else {
                throw UsageError("export takes an ID and a file")
            }
            action = .export(rest[0], into: path, isAlone: settings.isAlone)
        case "retry" where settings.takesAll: action = .retry(try Self.target(rest))
        case "retry": action = .retryOne(try Self.id(rest, "retry"))
        case "discard": action = .discard(try Self.id(rest, "discard"))
        case "store":
            guard let name = settings.newName else { throw UsageError("store needs --as NAME") }
            action = .store(try Self.id(rest, "store"), as: name)
        default: action = .list(try Self.target(operands), asJSON: settings.isJSON)
        }
    }

    private static func id(_ words: [String], _ verb: String) throws(UsageError) -> String {
        guard words.count == 1 else { throw UsageError("\(verb) takes one ID; firemount recover lists them") }
        return words[0]
    }

    private static func target(_ words: [String]) throws(UsageError) -> Target? {
        guard let word = words.first else { return nil }
        guard words.count == 1 else { throw UsageError("'\(words[1])' is one word too many") }
        if word.hasPrefix("gs:") { return .bucket(try BucketSpelling(word).bucket) }
        return TypedPath(spelling: word).map { .mountPoint($0) }
    }
}

/// The options of `recover` as typed.
struct RecoverSettings: Sendable, Equatable {
    var mount = MountSettings()
    var isJSON = false
    var takesAll = false
    var newName: String?
    var isAlone = false

    /// Its own, then those of `mount` that say how the bucket is reached and where journals are.
    static let options: [Option<RecoverSettings>] =
        [
            Option("json", turnsOn: \.isJSON, "list as JSON"),
            Option("written-only", turnsOn: \.isAlone, "export: only what was written here, zeros around it"),
            Option("all", turnsOn: \.takesAll, "retry everything that is listed"),
            Option("as", placeholder: "NAME", isMountOption: false, help: "store: the object's new name") {
                (settings, text) throws(UsageError) in settings.newName = text
            },
        ]
        + MountSettings.options.filter { reaching.contains($0.name) }.map { $0.within(\.mount) }

    private static let reaching: Set<String> = [
        "endpoint", "protocol", "anonymous", "key-file", "token-file", "user", "timeout", "cache-dir", "log-level",
    ]
}
