import Testing

@testable import BucketServer

/// What statements of a file apply to a request, and what they see.
struct RulesMatchingTests {
    /// A file of version 2, unless the body brings its own version.
    private static func file(_ body: String, version: String = "2") -> String {
        "rules_version = '\(version)';\nservice firebase.storage {\n match /b/{bucket}/o {\n\(body)\n }\n}"
    }

    private static func row(
        _ says: String, _ body: String, _ request: RulesRequest, _ expected: Outcome, version: String = "2"
    ) -> FileRow {
        FileRow(says, file(body, version: version), request, expected)
    }

    static let paths: [FileRow] = [
        row("no match denies", "match /other { allow read; }", .ofAlice(), .denied),
        row("no statement denies", "match /{p=**} { }", .ofAlice(), .denied),
        row("an exact path matches", "match /a/b.txt { allow read; }", .ofAlice(.get, "a/b.txt"), .allowed),
        row("an exact path matches itself alone", "match /a/b.txt { allow read; }", .ofAlice(.get, "a/b"), .denied),
        row("case counts", "match /A { allow read; }", .ofAlice(.get, "a"), .denied),
        row("bytes count", "match /é { allow read; }", .ofAlice(.get, "e\u{301}"), .denied),
        row("a prefix is no match", "match /a { allow read; }", .ofAlice(.get, "a/b"), .denied),
        row("a wildcard takes one part", "match /a/{x} { allow read; }", .ofAlice(.get, "a/b"), .allowed),
        row("a wildcard does not take two", "match /a/{x} { allow read; }", .ofAlice(.get, "a/b/c"), .denied),
        row("a wildcard does not take none", "match /a/{x} { allow read; }", .ofAlice(.get, "a"), .denied),
        row(
            "a wildcard takes an empty part", "match /a/{x}/b { allow read: if x == ''; }", .ofAlice(.get, "a//b"),
            .allowed),
        row("**: takes many", "match /a/{x=**} { allow read; }", .ofAlice(.get, "a/b/c/d"), .allowed),
        row("version 2: ** takes none", "match /a/{x=**} { allow read; }", .ofAlice(.get, "a"), .allowed),
        row(
            "version 1: ** takes 1", "match /a/{x=**} { allow read; }", .ofAlice(.get, "a/b"), .allowed, version: "1"),
        row(
            "version 1: ** takes not none", "match /a/{x=**} { allow read; }", .ofAlice(.get, "a"), .denied,
            version: "1"),
        row(
            "version 2: ** stands in the middle", "match /{x=**}/songs/{song} { allow read; }",
            .ofAlice(.get, "a/b/songs/c"), .allowed),
        row(
            "version 2: ** in the middle takes none", "match /{x=**}/songs/{song} { allow read; }",
            .ofAlice(.get, "songs/c"), .allowed),
        row(
            "what follows ** must match", "match /{x=**}/songs/{song} { allow read; }", .ofAlice(.get, "a/b/c"),
            .denied),
        row(
            "matches nest", "match /users { match /{uid} { match /{file} { allow read; } } }", .ofAlice(), .allowed),
        row(
            "a nested match needs the outer one", "match /groups { match /{uid}/{file} { allow read; } }", .ofAlice(),
            .denied),
        row(
            "the outer statements are not the inner path's",
            "match /users { allow read; match /{uid} { match /{file} { } } }", .ofAlice(), .denied),
        row(
            "matches nest in **", "match /{dirs=**} { match /alice/{file} { allow read: if dirs[0] == 'users'; } }",
            .ofAlice(), .allowed),
        row(
            "the bucket is a part of the path", "match /{p=**} { allow read: if bucket == 'demo'; }", .ofAlice(),
            .allowed),
        FileRow(
            "another bucket's rules are not this one's",
            "service firebase.storage { match /b/other/o/{p=**} { allow read; } }", .ofAlice(), .denied),
        FileRow(
            "without a version it is version 1",
            "service firebase.storage { match /b/{b}/o/a/{p=**} { allow read; } }", .ofAlice(.get, "a"), .denied),
        row(
            "a single wildcard is a string", "match /{a}/{b}/{c} { allow read: if b == 'alice' && b is string; }",
            .ofAlice(), .allowed),
        row(
            "a ** wildcard is a path", "match /users/{p=**} { allow read: if p == /alice/cat.png && p is path; }",
            .ofAlice(), .allowed),
        row("parentheses belong to a part", "match /a(1)/{x} { allow read; }", .ofAlice(.get, "a(1)/b"), .allowed),
        row(
            "odd characters belong to a part", "match /user:1/.a-b_c@d+e { allow read; }",
            .ofAlice(.get, "user:1/.a-b_c@d+e"), .allowed),
    ]

    static let statements: [FileRow] = [
        row("no condition allows", "match /{p=**} { allow read; }", .unsigned(), .allowed),
        row("read is get", "match /{p=**} { allow read; }", .ofAlice(.get), .allowed),
        row("read is list", "match /{p=**} { allow read; }", .ofAlice(.list, "users"), .allowed),
        row("read is no write", "match /{p=**} { allow read; }", .ofAlice(.create), .denied),
        row("get is no list", "match /{p=**} { allow get; }", .ofAlice(.list, "users"), .denied),
        row("list is no get", "match /{p=**} { allow list; }", .ofAlice(.get), .denied),
        row("write is create", "match /{p=**} { allow write; }", .ofAlice(.create), .allowed),
        row("write is update", "match /{p=**} { allow write; }", .ofAlice(.update), .allowed),
        row("write is delete", "match /{p=**} { allow write; }", .ofAlice(.delete), .allowed),
        row("write is no read", "match /{p=**} { allow write; }", .ofAlice(.get), .denied),
        row("create is no update", "match /{p=**} { allow create; }", .ofAlice(.update), .denied),
        row("update is no delete", "match /{p=**} { allow update; }", .ofAlice(.delete), .denied),
        row("delete is no create", "match /{p=**} { allow delete; }", .ofAlice(.create), .denied),
        row("methods add up", "match /{p=**} { allow get, delete; }", .ofAlice(.delete), .allowed),
        row(
            "version 1 lists nothing", "match /{p=**} { allow read, list; }", .ofAlice(.list, "users"), .denied,
            version: "1"),
        row("version 1 gets", "match /{p=**} { allow read; }", .ofAlice(.get), .allowed, version: "1"),
        row("the root can be listed", "match /{p=**} { allow list; }", .ofAlice(.list, ""), .allowed),
        row(
            "a folder's list is its own path's", "match /users/{uid} { allow list: if uid == 'alice'; }",
            .ofAlice(.list, "users/alice"), .allowed),
        row(
            "a folder's list is not its files' rule", "match /users/{uid}/{file} { allow list; }",
            .ofAlice(.list, "users/alice"), .denied),
        row(
            "one statement of two is enough", "match /{p=**} { allow read: if false; allow read: if true; }",
            .ofAlice(), .allowed),
        row(
            "one match of two is enough", "match /users/{p=**} { allow read: if false; } match /{p=**} { allow read; }",
            .ofAlice(), .allowed),
        row(
            "a denial takes nothing away",
            "match /{p=**} { allow read; } match /users/{p=**} { allow read: if false; }", .ofAlice(), .allowed),
        row(
            "an error does not hide another statement", "match /{p=**} { allow read: if 1 / 0 == 1; allow read; }",
            .ofAlice(), .allowed),
        row(
            "an error denies", "match /{p=**} { allow read: if resource.metadata.nothing == 1; }", .ofAlice(),
            .fails("no key 'nothing'")),
        row(
            "comments are blanks", "// a }\n match /{p=**} { /* b */ allow read /* ; */ : if /* c\n */ true; } // d",
            .ofAlice(), .allowed),
    ]

    private static let owner = "match /users/{uid}/{file=**} { allow read, write: if request.auth.uid == uid; }"
    private static let image = """
        match /{p=**} { allow write: if request.resource.size < 5 * 1024 * 1024
            && request.resource.contentType.matches('image/.*'); }
        """
    private static let verified =
        "match /{p=**} { allow read: if request.auth != null && request.auth.token.email_verified; }"
    private static let domain = "match /{p=**} { allow read: if request.auth.token.email.matches('.*@example[.]com'); }"
    private static let ownerInMetadata = """
        match /{p=**} { allow read: if resource.metadata.owner == request.auth.uid;
            allow delete: if request.resource == null; 
            allow create: if request.resource.metadata.owner == request.auth.uid && resource == null;
            allow update: if request.resource.metadata.diff(resource.metadata).affectedKeys().hasOnly(['mood']); }
        """

    static let requests: [FileRow] = [
        row("the owner reads", owner, .ofAlice(), .allowed),
        row("the owner writes", owner, .ofAlice(.create), .allowed),
        row("nobody else reads", owner, .ofAlice(.get, "users/bob/cat.png"), .denied),
        row("nobody at all is an error", owner, .unsigned(), .fails("null has no field 'uid'")),
        row("auth is null", "match /{p=**} { allow read: if request.auth == null; }", .unsigned(), .allowed),
        row("auth is not null", "match /{p=**} { allow read: if request.auth != null; }", .ofAlice(), .allowed),
        row("signed in only", "match /{p=**} { allow read: if request.auth != null; }", .unsigned(), .denied),
        row("claims are in the token", verified, .ofAlice(), .allowed),
        row("&& keeps null out", verified, .unsigned(), .denied),
        row("claims are strings", domain, .ofAlice(), .allowed),
        row(
            "a claim that is not there", "match /{p=**} { allow read: if request.auth.token.role == 'x'; }", .ofAlice(),
            .fails("no key 'role'")),
        row(
            "get replaces a claim that is not there",
            "match /{p=**} { allow read: if request.auth.token.get('role', 'none') == 'none'; }", .ofAlice(), .allowed),
        row(
            "in asks for a claim", "match /{p=**} { allow read: if !('role' in request.auth.token); }", .ofAlice(),
            .allowed),
        row(
            "claims nest",
            "match /{p=**} { allow read: if request.auth.token.firebase.sign_in_provider == 'password'; }", .ofAlice(),
            .allowed),
        row(
            "a small image may come", image, .ofAlice(.create, proposed: .file("a", size: 100, type: "image/png")),
            .allowed),
        row(
            "a large one may not", image, .ofAlice(.create, proposed: .file("a", size: 6 << 20, type: "image/png")),
            .denied),
        row("a text may not", image, .ofAlice(.create, proposed: .file("a", size: 1, type: "text/plain")), .denied),
        row(
            "a type with an image in it may not", image,
            .ofAlice(.create, proposed: .file("a", size: 1, type: "x-image/png")), .denied),
        row("a delete proposes nothing", image, .ofAlice(.delete), .fails("null has no field 'size'")),
        row("a delete can be told", ownerInMetadata, .ofAlice(.delete), .allowed),
        row("the stored owner reads", ownerInMetadata, .ofAlice(), .allowed),
        row(
            "a missing object has no owner", ownerInMetadata, .ofAlice(resource: nil),
            .fails("null has no field 'metadata'")),
        row(
            "the proposed owner creates", ownerInMetadata,
            .ofAlice(.create, resource: nil, proposed: .file("a", size: 1, type: "a/b", ["owner": "alice"])), .allowed),
        row(
            "but overwrites nothing", ownerInMetadata,
            .ofAlice(.create, proposed: .file("a", size: 1, type: "a/b", ["owner": "alice"])), .denied),
        row(
            "one key may change", ownerInMetadata,
            .ofAlice(.update, proposed: .file("a", size: 1, type: "a/b", ["owner": "alice", "mood": "x"])), .allowed),
        row(
            "another key may not", ownerInMetadata,
            .ofAlice(.update, proposed: .file("a", size: 1, type: "a/b", ["owner": "bob", "mood": "lazy"])), .denied),
        row(
            "an added key may not", ownerInMetadata,
            .ofAlice(.update, proposed: .file("a", size: 1, type: "a/b", ["owner": "alice", "mood": "lazy", "x": ""])),
            .denied),
        row(
            "resource is null for a missing object", "match /{p=**} { allow read: if resource == null; }",
            .ofAlice(resource: nil), .allowed),
        row(
            "request.resource is null for a read", "match /{p=**} { allow read: if request.resource == null; }",
            .ofAlice(), .allowed),
        row(
            "request.method is the method", "match /{p=**} { allow write: if request.method == 'delete'; }",
            .ofAlice(.delete), .allowed),
        row(
            "an hour's files are readable",
            "match /{p=**} { allow read: if request.time < resource.timeCreated + duration.value(61, 'm'); }",
            .ofAlice(), .allowed),
        row(
            "older ones are not",
            "match /{p=**} { allow read: if request.time < resource.timeCreated + duration.value(59, 'm'); }",
            .ofAlice(), .denied),
        row(
            "the bucket of the resource",
            "match /{p=**} { allow read: if resource.bucket == bucket && resource.name == 'users/alice/cat.png'; }",
            .ofAlice(), .allowed),
        row(
            "a field that no resource has", "match /{p=**} { allow read: if resource.data.x == 1; }", .ofAlice(),
            .fails("no key 'data'")),
        row(
            "a field that no request has", "match /{p=**} { allow read: if request.query.limit < 10; }", .ofAlice(),
            .fails("no key 'query'")),
    ]

    static let functions: [FileRow] = [
        FileRow(
            "functions may stand outside of the service",
            "function yes() { return true; } service firebase.storage { match /{p=**} { allow read: if yes(); } }",
            .ofAlice(), .allowed),
        FileRow(
            "the service's function counts before that of the file",
            "function f() { return false; } service firebase.storage { function f() { return true; } "
                + "match /{p=**} { allow read: if f(); } }", .ofAlice(), .allowed),
        row(
            "a function is called", "function yes() { return true; } match /{p=**} { allow read: if yes(); }",
            .ofAlice(), .allowed),
        row(
            "a function may come later", "match /{p=**} { allow read: if yes(); } function yes() { return true; }",
            .ofAlice(), .allowed),
        row(
            "parameters",
            "function same(a, b) { return a == b; } match /{p=**} { allow read: if same(1, 1) && !same(1, 2); }",
            .ofAlice(), .allowed),
        row(
            "let",
            "function f(a) { let b = a + 1; let c = b * 2; return c == 6; } match /{p=**} { allow read: if f(2); }",
            .ofAlice(), .allowed),
        row(
            "a function sees the wildcards around it",
            "match /users/{uid}/{p=**} { function own() { return request.auth.uid == uid; } allow read: if own(); }",
            .ofAlice(), .allowed),
        row(
            "but not those of its caller",
            "function own() { return request.auth.uid == uid; } match /users/{uid}/{p=**} { allow read: if own(); }",
            .ofAlice(), .fails("no variable uid")),
        row(
            "functions call functions",
            "function a() { return b(1); } function b(x) { return x == 1; } match /{p=**} { allow read: if a(); }",
            .ofAlice(), .allowed),
        row(
            "the nearer function counts",
            "function a() { return false; } match /{p=**} { function a() { return true; } allow read: if a(); }",
            .ofAlice(), .allowed),
        row(
            "a parameter hides a global",
            "function f(resource) { return resource == 1; } match /{p=**} { allow read: if f(1); }", .ofAlice(),
            .allowed),
        row(
            "a function's own variables stay in it",
            "function f() { let x = 1; return true; } match /{p=**} { allow read: if f() && x == 1; }", .ofAlice(),
            .fails("no variable x")),
        row(
            "too few arguments", "function f(a) { return true; } match /{p=**} { allow read: if f(); }", .ofAlice(),
            .fails("f() takes 1 arguments, not 0")),
        row(
            "an error in a function denies",
            "function f() { return 1 / 0 == 1; } match /{p=**} { allow read: if f(); }", .ofAlice(),
            .fails("division by zero")),
        row(
            "a binding that nobody needs may fail too",
            "function f() { let x = 1 / 0; return true; } match /{p=**} { allow read: if f(); }", .ofAlice(),
            .fails("division by zero")),
        row(
            "a function that returns no bool", "function f() { return 'x'; } match /{p=**} { allow read: if f(); }",
            .ofAlice(), .fails("expected a bool, found string")),
        row(
            "a function of the service", "match /{p=**} { allow read: if twenty(1) == 21; } \(chain(of: 20))",
            .ofAlice(), .allowed),
        row(
            "calls are not too deep", "match /{p=**} { allow read: if twenty(1) == 22; } \(chain(of: 21))", .ofAlice(),
            .fails("more than 20 calls")),
    ]

    /// `twenty(x)` adds as much to `x` as there are functions, each calling the next.
    private static func chain(of count: Int) -> String {
        let last = "function f\(count)(x) { return x + 1; }"
        return (1..<count).reduce(last) { "\($0) function f\($1)(x) { return f\($1 + 1)(x) + 1; }" }
            .replacing("f1(x) {", with: "twenty(x) {")
    }

    @Test(arguments: paths) func pathsMatchAsDocumented(_ row: FileRow) throws { try row.check() }

    @Test(arguments: statements) func statementsAllowAsDocumented(_ row: FileRow) throws { try row.check() }

    @Test(arguments: requests) func conditionsSeeTheRequest(_ row: FileRow) throws { try row.check() }

    @Test(arguments: functions) func functionsAreCalledAsDocumented(_ row: FileRow) throws { try row.check() }
}
