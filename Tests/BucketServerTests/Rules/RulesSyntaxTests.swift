import Testing

@testable import BucketServer

/// A file that does not parse: where, and what was expected.
struct RulesSyntaxTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let source: String
        /// `line:column: message`.
        let error: String

        init(_ source: String, _ error: String) {
            self.source = source
            self.error = error
        }

        var testDescription: String { error }
    }

    private static func inMatch(_ text: String) -> String { "service firebase.storage {\nmatch /a {\n\(text)\n}\n}" }

    private static func condition(_ text: String) -> String { inMatch("allow read: if \(text);") }

    static let files: [Row] = [
        Row("", "1:1: expected 'service firebase.storage', found the end of the file"),
        Row("{", "1:1: expected 'service firebase.storage', found '{'"),
        Row("service cloud.firestore { }", "1:9: expected the service firebase.storage, found cloud.firestore"),
        Row("service firebase { }", "1:9: expected the service firebase.storage, found firebase"),
        Row("service firebase.storage", "1:25: expected '{', found the end of the file"),
        Row("service firebase.storage {", "1:27: expected 'match', 'function' or '}', found the end of the file"),
        Row("service firebase.storage { } x", "1:30: expected the end of the file after the service, found 'x'"),
        Row("service firebase.storage { allow read; }", "1:28: expected 'match', 'function' or '}', found 'allow'"),
        Row("rules_version = '3';", "1:17: expected the version '1' or '2', found a string"),
        Row("rules_version = 2;", "1:17: expected the version '1' or '2', found '2'"),
        Row("rules_version '2';", "1:15: expected '=', found a string"),
        Row("rules_version = '2'\nservice", "2:8: expected the service's name, found the end of the file"),
        Row("function f() { return 1; }", "1:27: expected 'service firebase.storage', found the end of the file"),
        Row("match /a { }", "1:1: expected 'service firebase.storage', found 'match'"),
        Row("// only a comment", "1:18: expected 'service firebase.storage', found the end of the file"),
        Row("/* open", "1:1: expected '*/' to end the comment that starts here"),
        Row("service firebase.storage {\n  #\n}", "2:3: unexpected character '#'"),
        Row("service firebase.storage { match a { } }", "1:34: expected a path that begins with '/', found 'a'"),
        Row("service firebase.storage { match / { } }", "1:35: expected a part of the path after '/'"),
        Row("service firebase.storage { match /a/ { } }", "1:37: expected a part of the path after '/'"),
        Row("service firebase.storage { match /{} { } }", "1:36: expected the wildcard's name, found '}'"),
        Row(
            "service firebase.storage { match /{a { } }",
            "1:38: expected '}' or '=**}' after the wildcard's name, found '{'"),
        Row("service firebase.storage { match /{a=*} { } }", "1:38: expected '**' after '='"),
        Row("service firebase.storage { match /{a=**/b { } }", "1:40: expected '}' after '**', found '/'"),
        Row("service firebase.storage { match /a b { } }", "1:37: expected '{', found 'b'"),
        Row(
            "rules_version = '2'; service firebase.storage { match /{a=**}/{b=**} { } }",
            "1:63: a path can have one {name=**} only"),
        Row(
            "service firebase.storage { match /{a=**}/b { } }",
            "1:42: with rules_version '1' nothing can follow {name=**}; write rules_version = '2';"),
    ]

    static let statements: [Row] = [
        Row(inMatch("allow;"), "3:6: expected a method such as read or write, found ';'"),
        Row(inMatch("allow reed;"), "3:7: expected get, list, read, create, update, delete or write, found 'reed'"),
        Row(inMatch("allow read,;"), "3:12: expected a method such as read or write, found ';'"),
        Row(inMatch("allow read 1"), "3:12: expected ':' or ';' after the methods, found '1'"),
        Row(inMatch("allow read if true;"), "3:12: expected ':' or ';' after the methods, found 'if'"),
        Row(inMatch("allow read: true;"), "3:13: expected 'if' after ':', found 'true'"),
        Row(inMatch("allow read: if true false;"), "3:21: expected ';' after the condition, found 'false'"),
        Row(inMatch("match /{a}_{b} { }"), "3:11: expected '/' or '{': a wildcard takes a whole part of the path"),
        Row(inMatch("match /{a=**}.png { }"), "3:14: expected '/' or '{': a wildcard takes a whole part"),
        Row(inMatch("deny read;"), "3:1: expected 'allow', 'match', 'function' or '}', found 'deny'"),
        Row(inMatch("function f { }"), "3:12: expected '(', found '{'"),
        Row(inMatch("function f(1) { }"), "3:12: expected a parameter's name or ')', found '1'"),
        Row(inMatch("function f() { }"), "3:16: expected 'let' or 'return', found '}'"),
        Row(inMatch("function f() { let x 1; return x; }"), "3:22: expected '=', found '1'"),
        Row(inMatch("function f() { let x = 1 2 return x; }"), "3:26: expected ';' after the value, found '2'"),
        Row(inMatch("function f() { return 1; 2 }"), "3:26: expected '}', found '2'"),
        Row(inMatch("function if() { return 1; }"), "3:10: expected the function's name, found 'if'"),
        Row(inMatch("function f() { return 1; }\nfunction f() { return 2; }"), "4:10: the function f is here already"),
        Row(inMatch("function f() { return f(); }"), "3:10: the function f leads to a call of itself"),
        Row(
            inMatch("function g() { return 1; }\nfunction f(x) { return h(x); }\nfunction h(x) { return f(x); }"),
            "4:10: the function f leads to a call of itself"),
        Row(
            inMatch("function f(a, b, c, d, e, f, g, h) { return 1; }"),
            "3:11: a function can have 7 parameters at most"),
        Row(
            inMatch("function f() { " + (0...10).map { "let x\($0) = 1; " }.joined() + "return 1; }"),
            "3:136: a function can have 10 let bindings at most"),
    ]

    static let conditions: [Row] = [
        Row(condition(""), "3:16: expected an expression, found ';'"),
        Row(condition("1 +"), "3:19: expected an expression, found ';'"),
        Row(condition("(1"), "3:18: expected ')', found ';'"),
        Row(condition("[1, 2"), "3:21: expected ',' or ']', found ';'"),
        Row(condition("f(1"), "3:19: expected ',' or ')', found ';'"),
        Row(condition("{'a' 1}"), "3:21: expected ':', found '1'"),
        Row(condition("a["), "3:18: expected an expression, found ';'"),
        Row(condition("a[1:]"), "3:20: expected an expression, found ']'"),
        Row(condition("a."), "3:18: expected the name of a field or method, found ';'"),
        Row(condition("a is text"), "3:21: expected a type after 'is'"),
        Row(condition("true ? 1"), "3:24: expected ':', found ';'"),
        Row(condition("a = 1"), "3:18: expected ';' after the condition, found '='"),
        Row(condition("a & b"), "3:18: unexpected character '&'"),
        Row(condition("a | b"), "3:18: unexpected character '|'"),
        Row(condition("a === b"), "3:20: expected an expression, found '='"),
        Row(condition("'abc"), "3:16: expected a closing quote on the line of the opening one"),
        Row(condition("'a\nb'"), "3:16: expected a closing quote on the line of the opening one"),
        Row(condition("'\\u12'"), "3:17: expected 4 digits of base 16 in this escape"),
        Row(condition("'\\ud800'"), "3:17: the escape names no character"),
        Row(condition("9223372036854775808 > 0"), "3:16: the integer 9223372036854775808 does not fit into 64 bits"),
        Row(condition("99999999999999999999 > 0"), "3:16: the integer 99999999999999999999 does not fit into 64 bits"),
        Row(condition("1e999 > 0"), "3:16: the number 1e999 is out of range"),
        Row(condition("12ab"), "3:18: expected the number to end before 'a'"),
        Row(condition("/a/ == 1"), "3:19: expected a part of the path after '/'"),
        Row(condition("/a/$(b == /c"), "3:28: expected ')', found ';'"),
        Row(condition("return"), "3:16: expected an expression, found 'return'"),
        Row(condition(String(repeating: "(", count: 300) + "1"), "expressions are inside one another"),
        Row(condition(String(repeating: "!", count: 300) + "true"), "expressions are inside one another"),
        Row(condition("1" + String(repeating: " + 1", count: 300)), "expressions are inside one another"),
        Row(condition("a" + String(repeating: ".b", count: 300)), "expressions are inside one another"),
    ]

    @Test(arguments: files + statements + conditions) func aBadFileIsRefusedWithItsPlace(_ row: Row) {
        let error = #expect(throws: RulesSyntaxError.self) { try RulesParser.parse(row.source, file: "storage.rules") }
        #expect(error?.description.contains(row.error) == true, "\(error?.description ?? "nothing was thrown")")
        if row.error.first?.isNumber == true {
            #expect(error?.description.hasPrefix("storage.rules:\(row.error)") == true)
        }
    }

    @Test func aFileOverTheSizeLimitIsRefused() {
        let comment = "/*" + String(repeating: " ", count: RulesParser.Limit.sourceBytes) + "*/"
        #expect(throws: RulesSyntaxError.self) {
            try RulesParser.parse(comment + Self.condition("true"), file: "storage.rules")
        }
    }

    @Test func matchesNestTenDeepAndNoDeeper() throws {
        func nested(_ depth: Int) -> String {
            "service firebase.storage {" + String(repeating: "match /a {", count: depth)
                + String(repeating: "}", count: depth + 1)
        }
        _ = try RulesParser.parse(nested(10), file: "storage.rules")
        #expect(throws: RulesSyntaxError.self) { try RulesParser.parse(nested(11), file: "storage.rules") }
    }

    @Test func longChainsOfAndAndOrAreNotDeep() throws {
        let rules = Self.condition((0..<2_000).map { "request.auth.uid == 'u\($0)'" }.joined(separator: " || "))
        #expect(try RulesParser.parse(rules, file: "storage.rules").matches.count == 1)
    }

    @Test func semicolonsMayBeMissing() throws {
        let rules = """
            rules_version = '2'
            function isSmall() { let size = request.resource.size return size < 10 }
            service firebase.storage {
              match /b/{bucket}/o {
                match /a { allow read: if request.auth != null
                  allow write: if isSmall() }
                match /b { allow get
                  allow list }
              }
              function f() { return 1 }
            }
            function g() { return 2 }
            """
        let service = try RulesParser.parse(rules, file: "storage.rules").matches[0]
        #expect(service.matches[0].matches.map(\.allows.count) == [2, 2])
    }

    @Test func bothQuotesCommasAtTheEndAndFieldsNamedLikeWordsAreTaken() throws {
        let rules = """
            rules_version = "2";
            service firebase.storage { match /a { function f(a,) { return [1, 2,].size() == 2; }
              allow read: if f({"a": 1, 'b': 2,}) && resource.metadata.match.in == 1; } }
            """
        _ = try RulesParser.parse(rules, file: "storage.rules")
    }
}
