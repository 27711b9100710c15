import TestSupport
import Testing

@testable import BucketServer

/// RE2's syntax as far as rules need it.
struct RegularExpressionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let pattern: String
        let matching: [String]
        let others: [String]

        init(_ pattern: String, _ matching: [String], not others: [String]) {
            self.pattern = pattern
            self.matching = matching
            self.others = others
        }

        var testDescription: String { pattern }
    }

    static let rows: [Row] = [
        Row("", [""], not: ["a"]),
        Row("abc", ["abc"], not: ["ab", "abcd", "xabc"]),
        Row("a.c", ["abc", "añc"], not: ["a\nc", "ac"]),
        Row("(?s)a.c", ["a\nc"], not: []),
        Row("a|bc|", ["a", "bc", ""], not: ["b", "abc"]),
        Row("(a|b)*c", ["c", "abac"], not: ["ab"]),
        Row("a+b?", ["a", "aab"], not: ["b", "abb"]),
        Row("a{2}b{1,2}c{0,}", ["aab", "aabbcc"], not: ["ab", "aabbb"]),
        Row("a{,2}", ["a{,2}"], not: ["aa"]),
        Row("x{", ["x{"], not: ["x"]),
        Row("a*?b+?", ["b", "aabb"], not: ["a"]),
        Row("[abc]", ["a", "c"], not: ["d", "ab"]),
        Row("[^abc]", ["d", "\n"], not: ["a", ""]),
        Row("[a-cx-z_]+", ["abcxyz_"], not: ["d", "-"]),
        Row("[]a]+", ["]a]"], not: ["b"]),
        Row("[^]a]", ["b"], not: ["]", "a"]),
        Row("[a-]+", ["a-"], not: ["b"]),
        Row("[\\d.-]+", ["1.2-3"], not: ["a"]),
        Row("[[:alpha:]_]+", ["ab_"], not: ["a1"]),
        Row("[[:^digit:]]", ["a"], not: ["1"]),
        Row("\\d+\\s\\w+", ["12 ab_3"], not: ["a b"]),
        Row("\\D\\S\\W", ["ab-"], not: ["1b-"]),
        Row("\\.\\*\\\\", [".*\\"], not: ["abc"]),
        Row("\\x41\\x{1F600}\\t", ["A\u{1F600}\t"], not: ["a"]),
        Row("\\Qa.b*\\E+", ["a.b*", "a.b**"], not: ["aXb*", "a.b"]),
        Row("\\pL\\p{Lu}\\PN\\p{^L}", ["ñÉa1"], not: ["ñéa1"]),
        Row("(?i)Straße[a-c]", ["STRAßEB", "straßeb"], not: ["strassea"]),
        Row("(?i:a)b", ["Ab", "ab"], not: ["aB"]),
        Row("(?i)a(?-i)b", ["Ab"], not: ["AB"]),
        Row("(?P<year>\\d{4})-(?:\\d\\d)", ["2024-05"], not: ["24-05"]),
        Row("^abc$", ["abc"], not: ["ab"]),
        Row("a\\b-\\Bx?", ["a-"], not: ["a-x"]),
        Row("(?m)a$\n^b", ["a\nb"], not: ["ab"]),
        Row("(a*)*", ["", "aaa"], not: ["b"]),
        Row("(a|a)*b", [String(repeating: "a", count: 500) + "b"], not: [String(repeating: "a", count: 500)]),
        Row("(x+x+)+y", [], not: [String(repeating: "x", count: 500)]),
        Row(".*@(example|test)[.]com", ["me@example.com"], not: ["me@example.org", "me@examplexcom"]),
    ]

    @Test(arguments: rows) func patternsMatchWholeTexts(_ row: Row) throws {
        let pattern = try RegularExpression(row.pattern)
        for text in row.matching {
            var work = 1_000_000
            #expect(try pattern.matchesWhole(Array(text.unicodeScalars), work: &work), "\(text)")
        }
        for text in row.others {
            var work = 1_000_000
            #expect(try !pattern.matchesWhole(Array(text.unicodeScalars), work: &work), "\(text)")
        }
    }

    static let bad = [
        "(", ")", "a)", "(?", "(?P<", "(?P<>a)", "(?=a)", "(?<!a)", "[a", "[z-a]", "[a-\\d]", "*", "+a", "a**",
        "a{2}{3}",
        "a{2,1}", "a{1001}", "\\", "\\q", "\\1", "\\x4", "\\x{110000}", "\\p{Nothing}", "[[:nothing:]]", "(?z)a",
        "((a{1000}){1000}){1000}", "((){1000}){1000}",
        String(repeating: "(", count: 60) + String(repeating: ")", count: 60),
        String(repeating: "a", count: 5_000),
    ]

    @Test(arguments: bad) func badPatternsAreRefused(_ pattern: String) {
        #expect(throws: PatternError.self) { try RegularExpression(pattern) }
    }

    static let searches: [(String, String, Range<Int>?)] = [
        ("b+", "abbb", 1..<4), ("b+?", "abbb", 1..<2), ("x", "abc", nil), ("", "abc", 0..<0), ("a|ab", "xab", 1..<2),
        ("ab|a", "xab", 1..<3), ("(a*)(b|abcd)", "aabcd", 0..<3), ("$", "abc", 3..<3), ("b|c$", "abc", 1..<2),
    ]

    @Test(arguments: searches)
    func theLeftmostMatchIsFoundAndOfThoseTheFirst(_ pattern: String, _ text: String, _ expected: Range<Int>?) throws {
        var work = 10_000
        let found = try RegularExpression(pattern).firstMatch(in: Array(text.unicodeScalars), from: 0, work: &work)
        #expect(found == expected)
    }

    @Test func workIsBounded() throws {
        let pattern = try RegularExpression("(a{0,50}){0,50}b")
        var work = 100_000
        #expect(throws: PatternError.tooMuchWork) {
            try pattern.matchesWhole(Array(repeating: "a", count: 100_000), work: &work)
        }
    }

    @Test(arguments: UInt64(0)..<16) func randomPatternsAreSurvived(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("ab(|)*+?[]^-{1,2}.\\dwpQE$:<>P=i".unicodeScalars)
        for _ in 0..<300 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...20, using: &random) { text.append(alphabet.randomElement(using: &random)!) }
            guard let pattern = try? RegularExpression(String(text)) else { continue }
            var work = 100_000
            _ = try? pattern.matchesWhole(Array("aabba1-".unicodeScalars), work: &work)
            _ = try? pattern.firstMatch(in: Array("aabba1-".unicodeScalars), from: 0, work: &work)
        }
    }
}
