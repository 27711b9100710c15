import Testing

@testable import BucketServer

/// What a denial tells the developer, and what an open question is.
struct RulesReasonTests {
    private let rules = """
        rules_version = '2';
        service firebase.storage {
          match /b/{bucket}/o {
            match /users/{uid}/{file=**} {
              allow read: if request.auth != null && request.auth.uid == uid;
              allow create: if request.resource.md5Hash == resource.md5Hash
                && request.resource.size < 10;
              allow delete;
            }
            match /{all=**} {
              allow get: if request.auth.token.admin;
            }
          }
        }
        """

    private func verdict(_ request: RulesRequest) throws -> RulesVerdict {
        try RulesParser.parse(rules, file: "storage.rules").decide(request)
    }

    @Test func aReasonNamesEachStatementAndWhereItSaysNo() throws {
        let reason = """
            storage.rules:5: allow read: condition is false at 5:46; \
            storage.rules:11: allow get: condition is false at 11:21
            """
        #expect(try verdict(.ofAlice(.get, "users/bob/a.txt")) == .deny(reason: reason))
    }

    @Test func aReasonNamesErrors() throws {
        let reason = """
            storage.rules:5: allow read: condition is false at 5:22; \
            storage.rules:11: allow get: error at 11:33: null has no field 'token'
            """
        #expect(try verdict(.unsigned(.get, "users/bob/a.txt")) == .deny(reason: reason))
    }

    @Test func aReasonNamesMatchesThatAllowNothingOfTheKind() throws {
        let reason = """
            storage.rules:4: match /users/{uid}/{file=**}: nothing allows update; \
            storage.rules:10: match /{all=**}: nothing allows update
            """
        #expect(try verdict(.ofAlice(.update)) == .deny(reason: reason))
    }

    @Test func aReasonNamesThePathThatNothingMatches() throws {
        let rules = "service firebase.storage { match /b/{b}/o/public/{p=**} { allow read; } }"
        let verdict = try RulesParser.parse(rules, file: "storage.rules").decide(.ofAlice())
        #expect(verdict == .deny(reason: "storage.rules: no match for /b/demo/o/users/alice/cat.png"))
    }

    @Test func aReasonForAListOfVersionOneNamesTheCure() throws {
        let rules = "service firebase.storage { match /{p=**} { allow read; } }"
        let verdict = try RulesParser.parse(rules, file: "storage.rules").decide(.ofAlice(.list, "users"))
        let cure = "rules_version '1' allows no list; begin the file with rules_version = '2';"
        #expect(verdict == .deny(reason: "storage.rules: \(cure)"))
    }

    @Test func aReasonIsShortHoweverManyStatementsThereAre() throws {
        let statements = String(repeating: "allow read: if false;\n", count: 100)
        let rules = "service firebase.storage { match /{p=**} { \(statements) } }"
        guard case .deny(let reason) = try RulesParser.parse(rules, file: "r").decide(.ofAlice()) else {
            Issue.record("allowed")
            return
        }
        #expect(reason.hasSuffix("; and 92 more"))
    }

    // MARK: Before an upload's bytes have come

    private func upload(md5: RulesValue, size: Int64) -> RulesRequest {
        .ofAlice(.create, proposed: .map(["md5Hash": md5, "size": .integer(size)]))
    }

    @Test func whatIsNotKnownYetLeavesTheQuestionOpen() throws {
        #expect(try verdict(upload(md5: .unknown, size: 5)) == .undecided)
    }

    @Test func whatIsNotKnownYetDoesNotMatterWhereTheRestSaysNo() throws {
        guard case .deny = try verdict(upload(md5: .unknown, size: 50)) else {
            Issue.record("not denied")
            return
        }
    }

    @Test func theAnswerFollowsOnceItIsKnown() throws {
        #expect(try verdict(upload(md5: .string("1B2M2Y8AsgTpgAmY7PhCfg=="), size: 5)) == .allow)
    }

    static let openConditions: [(String, RulesVerdict?)] = [
        ("request.resource.md5Hash == 'x'", .undecided), ("request.resource.md5Hash != 'x'", .undecided),
        ("[request.resource] == [request.resource]", .undecided), ("!(request.resource.md5Hash == 'x')", .undecided),
        ("request.resource.md5Hash == 'x' || true", .allow), ("true || request.resource.md5Hash == 'x'", .allow),
        ("request.resource.md5Hash == 'x' || false", .undecided), ("request.resource.md5Hash is string", .undecided),
        ("request.resource.md5Hash == 'x' && 1 / 0 == 1", .undecided), ("'md5Hash' in request.resource", .allow),
        ("request.resource.md5Hash == 'x' && false", nil), ("request.resource.get('md5Hash', '') == ''", .undecided),
        ("(request.resource.md5Hash == 'x' ? 1 : 2) == 1", .undecided), ("request.resource.keys().size() == 2", .allow),
    ]

    @Test(arguments: openConditions) func anOpenConditionIsOpen(_ condition: String, _ expected: RulesVerdict?) throws {
        let rules = "service firebase.storage { match /{p=**} { allow create: if \(condition); } }"
        let verdict = try RulesParser.parse(rules, file: "r").decide(upload(md5: .unknown, size: 5))
        if let expected {
            #expect(verdict == expected)
        } else if case .deny = verdict {
        } else {
            Issue.record("\(verdict)")
        }
    }
}
