import Testing

@testable import BucketServer

/// What a table row expects of rules.
enum Outcome: Sendable, Equatable {
    case allowed
    case denied
    /// Denied because a condition has no value; the reason says this.
    case fails(String)
}

/// A condition, asked for a request that is the same in all rows unless it says otherwise.
struct ConditionRow: Sendable, CustomTestStringConvertible {
    let condition: String
    let expected: Outcome
    var request = RulesRequest.ofAlice()

    init(_ condition: String, _ expected: Outcome, _ request: RulesRequest = .ofAlice()) {
        self.condition = condition
        self.expected = expected
        self.request = request
    }

    var testDescription: String { "\(condition) → \(expected)" }

    /// Evaluates the condition as the only one of a file.
    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let rules = """
            rules_version = '2';
            service firebase.storage { match /b/{bucket}/o { match /{name=**} {
            allow read, write: if \(condition);
            } } }
            """
        try checkVerdict(of: rules, request, expected, sourceLocation)
    }
}

/// A whole file.
struct FileRow: Sendable, CustomTestStringConvertible {
    let says: String
    let rules: String
    let request: RulesRequest
    let expected: Outcome

    init(_ says: String, _ rules: String, _ request: RulesRequest, _ expected: Outcome) {
        self.says = says
        self.rules = rules
        self.request = request
        self.expected = expected
    }

    var testDescription: String { says }

    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try checkVerdict(of: rules, request, expected, sourceLocation)
    }
}

private func checkVerdict(
    of rules: String, _ request: RulesRequest, _ expected: Outcome, _ sourceLocation: SourceLocation
) throws {
    let verdict = try RulesParser.parse(rules, file: "storage.rules").decide(request)
    switch (expected, verdict) {
    case (.allowed, .allow): break
    case (.denied, .deny(let reason)):
        #expect(!reason.contains("error at"), "\(reason)", sourceLocation: sourceLocation)
    case (.fails(let message), .deny(let reason)):
        #expect(
            reason.contains("error at") && reason.contains(message), "\(reason)", sourceLocation: sourceLocation)
    default: Issue.record("expected \(expected), got \(verdict)", sourceLocation: sourceLocation)
    }
}

extension RulesRequest {
    /// 2024-03-05T06:07:08.009010Z, a Tuesday.
    static let noon: Microseconds = 1_709_618_828_009_010

    /// A request for `users/alice/cat.png` in the bucket `demo`, signed in as alice unless told otherwise.
    static func ofAlice(
        _ method: Method = .get, _ name: String = "users/alice/cat.png", auth: RulesValue? = .alice,
        resource: RulesValue? = .cat, proposed: RulesValue? = nil
    ) -> RulesRequest {
        let parts = name.isEmpty ? [] : name.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        return RulesRequest(
            method: method, path: ["b", "demo", "o"] + parts, auth: auth, resource: resource, proposed: proposed,
            time: noon)
    }

    static func unsigned(_ method: Method = .get, _ name: String = "users/alice/cat.png") -> RulesRequest {
        ofAlice(method, name, auth: nil)
    }
}

extension RulesValue {
    static let alice = RulesValue.map([
        "uid": .string("alice"),
        "token": .map([
            "sub": .string("alice"), "email": .string("alice@example.com"), "email_verified": .bool(true),
            "admin": .bool(false), "level": .integer(3),
            "firebase": .map([
                "sign_in_provider": .string("password"),
                "identities": .map(["email": .list([.string("alice@example.com")])]),
            ]),
        ]),
    ])

    static let cat = file("users/alice/cat.png", size: 2_000, type: "image/png", ["owner": "alice", "mood": "lazy"])

    static func file(
        _ name: String, size: Int64, type: String, _ metadata: [String: String] = [:]
    ) -> RulesValue {
        .map([
            "name": .string(name), "bucket": .string("demo"), "size": .integer(size), "contentType": .string(type),
            "generation": .integer(1_709_000_000_000_000), "metageneration": .integer(1),
            "timeCreated": .timestamp(RulesRequest.noon - 3_600_000_000),
            "updated": .timestamp(RulesRequest.noon - 60_000_000), "md5Hash": .string("1B2M2Y8AsgTpgAmY7PhCfg=="),
            "crc32c": .string("AAAAAA=="), "etag": .string("CAE="),
            "metadata": .map(metadata.mapValues { .string($0) }),
        ])
    }
}
