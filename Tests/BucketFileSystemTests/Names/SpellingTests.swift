import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct SpellingTests {
    @Test(arguments: ["a", "ä", "a b", "%41", "..."])
    func ordinarySegmentIsItsOwnSpelling(text: String) {
        #expect(Spelling.name(of: Array(text.utf8)) == EntryName(text))
        #expect(Spelling.segment(of: EntryName(text)) == Spelling.Segment(bytes: Array(text.utf8)))
    }

    @Test(arguments: [
        ("", "\u{FF05}"), (".", "\u{FF05}2E"), ("..", "\u{FF05}2E\u{FF05}2E"), ("a\0b", "a\u{FF05}00b"),
        ("\u{FF05}", "\u{FF05}EF\u{FF05}BC\u{FF05}85"), ("x\u{FF05}41", "x\u{FF05}EF\u{FF05}BC\u{FF05}8541"),
        ("5\u{FF05} off", "5\u{FF05} off"),
    ])
    func oddSegmentIsSpelledAndReadBack(segment: String, name: String) {
        #expect(Spelling.name(of: Array(segment.utf8)) == EntryName(name))
        #expect(Spelling.segment(of: EntryName(name)) == Spelling.Segment(bytes: Array(segment.utf8)))
    }

    @Test func folderBesideAFileHasItsSlash() {
        let name = Spelling.name(of: Array("a".utf8), isFolderBesideFile: true)
        #expect(name == EntryName("a\u{FF05}2F"))
        #expect(Spelling.segment(of: name) == Spelling.Segment(bytes: [UInt8(ascii: "a")], isFolderBesideFile: true))
    }

    @Test(arguments: ["\u{FF05}41", "a\u{FF05}2E", "\u{FF05}2F\u{FF05}41"])
    func secondSpellingOfAnObjectIsNone(name: String) {
        #expect(Spelling.segment(of: EntryName(name)) == nil)
    }

    @Test func longSegmentsStayApartAndFit() {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 300)
        let (first, second) = (Spelling.name(of: long + [1]), Spelling.name(of: long + [2]))
        #expect(first != second)
        #expect(first.bytes.count == 255)
        #expect(Spelling.segment(of: first)?.isShortened == true)
        #expect(
            String(validating: Spelling.name(of: Array(String(repeating: "ü", count: 200).utf8)).bytes, as: UTF8.self)
                != nil)
    }

    @Test(arguments: UInt64(0)..<200)
    func everySegmentComesBackAndNoTwoMeet(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let alphabet: [[UInt8]] = [Spelling.sign, [46], [50], [70], [0], [126], [65]]
        var names: [EntryName: [UInt8]] = [:]
        for _ in 0..<200 {
            let segment = (0..<Int.random(in: 0...5, using: &random)).flatMap { _ in
                alphabet.randomElement(using: &random)!
            }
            let name = Spelling.name(of: segment)
            #expect(names.updateValue(segment, forKey: name) ?? segment == segment)
            #expect(Spelling.segment(of: name)?.bytes == segment)
        }
    }
}
