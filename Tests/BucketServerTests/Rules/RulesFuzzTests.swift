import TestSupport
import Testing

@testable import BucketServer

/// Nothing that a file says ends the server or keeps it busy.
struct RulesFuzzTests {
    private static let sample = """
        rules_version = '2';
        service firebase.storage {
          function isOwner(uid) { let id = request.auth.uid; return id == uid && id.size() > 0; }
          match /b/{bucket}/o {
            match /users/{uid}/{path=**} {
              allow read: if isOwner(uid) || request.auth.token.admin == true;
              allow write: if request.resource.size < 5 * 1024 * 1024 && path[0].matches('[a-z]+\\\\.(png|jpe?g)')
                && request.resource.metadata.diff(resource.metadata).affectedKeys().hasOnly(['mood', "x"]);
            }
            match /{all=**} {
              allow get: if request.time < timestamp.date(2030, 1, 2) + duration.value(1, 'w')
                ? true : 1.5e3 in [1, {}];
              allow list, create: if /a/$(request.auth.uid)/b == request.path && -1 % 2 is int
                && !("a"[0:1] != b'\\x41');
            }
          }
        }
        """

    private static let requests: [RulesRequest] = [
        .ofAlice(), .ofAlice(.list, ""), .unsigned(.create), .ofAlice(.create, proposed: .cat),
        .ofAlice(.update, "a//b/", resource: nil, proposed: .map(["size": .unknown])), .ofAlice(.delete),
    ]

    private static func tryOut(_ source: String) {
        guard let ruleset = try? RulesParser.parse(source, file: "storage.rules") else { return }
        for request in requests { _ = ruleset.decide(request) }
    }

    @Test func theSampleItselfParses() throws {
        _ = try RulesParser.parse(Self.sample, file: "storage.rules")
    }

    @Test(arguments: UInt64(0)..<16) func randomBytesAreSurvived(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<60 {
            let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            Self.tryOut(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test(arguments: UInt64(0)..<16) func changedFilesAreSurvived(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("{}()[]/$*=.,;:?!&|<>+-%'\"\\ \nab1".utf8)
        for _ in 0..<40 {
            var bytes = Array(Self.sample.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let start = Int.random(in: 0..<bytes.count, using: &random)
                let end = min(bytes.count, start + Int.random(in: 0...20, using: &random))
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.removeSubrange(start..<min(end, bytes.count - 1))
                case 1:
                    bytes.insert(contentsOf: bytes[start..<end], at: Int.random(in: 0..<bytes.count, using: &random))
                case 2: bytes.insert(alphabet.randomElement(using: &random)!, at: start)
                default: bytes[start] = alphabet.randomElement(using: &random)!
                }
            }
            Self.tryOut(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Expressions of all kinds, put together at random: they parse, and are evaluated.
    @Test(arguments: UInt64(0)..<16) func randomExpressionsAreSurvived(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            let condition = Self.expression(depth: 6, &random)
            let rules = "service firebase.storage { match /b/{b}/o/{p=**} { allow read, write: if \(condition); } }"
            let ruleset = try RulesParser.parse(rules, file: "storage.rules")
            for request in Self.requests { _ = ruleset.decide(request) }
        }
    }

    private static func expression(depth: Int, _ random: inout SplitMix64) -> String {
        let leaves = [
            "1", "0", "-1", "2.5", "'a'", "''", "b'x'", "null", "true", "false", "request", "resource", "p", "b",
            "nobody",
            "request.auth", "request.time", "request.path", "resource.metadata", "9223372036854775807", "[]", "{}",
        ]
        guard depth > 0, Int.random(in: 0..<6, using: &random) > 0 else { return leaves.randomElement(using: &random)! }
        func part() -> String { expression(depth: depth - 1, &random) }
        let operators = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "in", "&&", "||"]
        let methods = [
            "size", "keys", "values", "matches", "split", "replace", "lower", "trim", "get", "diff", "hasAny", "concat",
            "join", "toSet", "union", "toMillis", "year", "bind", "toUtf8", "removeAll", "affectedKeys", "distance",
        ]
        let functions = [
            "int", "float", "string", "bool", "path", "debug", "math.abs", "math.pow", "timestamp.date",
            "timestamp.value",
            "duration.value", "duration.time", "latlng.value", "hashing.md5", "hashing.crc32", "firestore.get",
            "math.round",
        ]
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1, 2: return "(\(part()) \(operators.randomElement(using: &random)!) \(part()))"
        case 3: return "(\(["!", "-"].randomElement(using: &random)!)\(part()))"
        case 4: return "(\(part())).\(methods.randomElement(using: &random)!)(\(part()))"
        case 5: return "\(functions.randomElement(using: &random)!)(\(part()), \(part()))"
        case 6: return "[\(part()), \(part())][\(part())]"
        case 7: return "{'a': \(part()), 'b': \(part())}.a"
        default: return "(\(part()) ? \(part()) : \(part()))"
        }
    }

    // MARK: What is made to be slow or deep

    private static func function(_ bindings: String, _ result: String) -> String {
        """
        rules_version = '2';
        service firebase.storage { match /{p=**} { function f(x) { \(bindings) return \(result); }
        function g(x) { return f(f(f(f(x)))); } function h(x) { return g(g(g(g(x)))); }
        allow read: if h(h(h(h(VALUE)))) == h(h(h(h(VALUE)))); } }
        """
    }

    static let monsters: [String] = [
        function("let a = x + x; let b = a + a; let c = b + b;", "c + c").replacing("VALUE", with: "'abcdefgh'"),
        function("let a = [x, x]; let b = [a, a]; let c = [b, b];", "[c, c]").replacing("VALUE", with: "1"),
        function("let a = {'a': x, 'b': x};", "{'a': a, 'b': a}").replacing("VALUE", with: "1"),
        function("let a = x.concat(x); let b = a.concat(a);", "b.concat(b)").replacing("VALUE", with: "[1]"),
        function("", "[[[[[[[[x]]]]]]]]").replacing("VALUE", with: "1"),
        function("let a = debug(x);", "debug([a, a])").replacing("VALUE", with: "request"),
        function("", "x.replace('', x)").replacing("VALUE", with: "'ab'"),
        function("", "x && x").replacing("VALUE", with: "true"),
    ]

    @Test(arguments: monsters.indices) func workIsBounded(_ index: Int) throws {
        let ruleset = try RulesParser.parse(Self.monsters[index], file: "storage.rules")
        let time = ContinuousClock().measure { _ = ruleset.decide(.ofAlice()) }
        #expect(time < .seconds(20), "\(Self.monsters[index])")
    }

    @Test func manyWaysThroughAPathAreBounded() throws {
        let opening = (0..<8).map { "match /{p\($0)=**} { " }.joined()
        let rules =
            "rules_version = '2'; service firebase.storage { \(opening) match /x { allow read; } "
            + String(repeating: "}", count: 9)
        let name = [String](repeating: "y", count: 500).joined(separator: "/")
        let ruleset = try RulesParser.parse(rules, file: "storage.rules")
        var verdict = RulesVerdict.allow
        let time = ContinuousClock().measure { verdict = ruleset.decide(.ofAlice(.get, name)) }
        #expect(time < .seconds(20))
        #expect(verdict == .deny(reason: "storage.rules: the path can be matched in too many ways"))
    }

    /// As deep as a file may be, through as many calls: the stack of a thread suffices.
    @Test func depthIsBounded() throws {
        let deep = String(repeating: "[", count: 90) + "x" + String(repeating: "]", count: 90)
        let functions = (0..<19).map { "function f\($0)(x) { return f\($0 + 1)(\(deep)); }" }.joined(separator: "\n")
        let rules = """
            service firebase.storage { match /{p=**} { \(functions) function f19(x) { return x == \(deep); }
            allow read: if f0(1); } }
            """
        guard case .deny = try RulesParser.parse(rules, file: "storage.rules").decide(.ofAlice()) else {
            Issue.record("allowed")
            return
        }
    }
}
