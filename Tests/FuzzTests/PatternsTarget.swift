@testable import BucketServer

/// A regular expression of Security Rules, and behind the first line feed the text that it is held against. Neither may
/// take more than its bounded work.
enum PatternsTarget {
    static func run(_ input: [UInt8]) -> Bool {
        let halves = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { return false }
        let text = Array(String(decoding: halves[1], as: UTF8.self).unicodeScalars)
        do throws(PatternError) {
            let pattern = try RegularExpression(String(decoding: halves[0], as: UTF8.self))
            var work = 1_000_000
            let isWhole = try pattern.matchesWhole(text, work: &work)
            let first = try pattern.firstMatch(in: text, from: 0, work: &work)
            precondition(first != nil || !isWhole, "the whole matches, and no part of it")
            precondition(first.map { $0.upperBound <= text.count } ?? true, "a match beyond the text")
            return isWhole
        } catch { return false }
    }
}
