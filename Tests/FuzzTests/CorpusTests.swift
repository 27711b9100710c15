import Foundation
import TestSupport
import Testing

/// Inputs of each kind that there is, those that scripts/fuzz has found worth keeping, and variations of them from
/// seeds.
@Suite(.serialized) struct CorpusTests {
    /// For all inputs of a target together.
    private static let variations = 1_000

    @Test(arguments: FuzzTarget.allCases) func noInputDoesHarm(target: FuzzTarget) async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "Corpus/\(target.rawValue)")
        let inputs = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }.map { [UInt8](try Data(contentsOf: $0)) }
        try #require(!inputs.isEmpty)
        // A thread of its own: the targets block, and the pool that they wait for has few.
        let isAnyTaken = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Self.run(target, inputs)) }
        }
        // Else nothing beyond the first check would be tried.
        #expect(isAnyTaken)
    }

    /// Answers whether any of the inputs themselves was taken for good.
    private static func run(_ target: FuzzTarget, _ inputs: [[UInt8]]) -> Bool {
        var isAnyTaken = false
        for (number, input) in inputs.enumerated() {
            if target.run(input) { isAnyTaken = true }
            var random = SplitMix64(seed: UInt64(number))
            for _ in 0...Self.variations / inputs.count { target.run(random.variation(of: input)) }
        }
        return isAnyTaken
    }
}

extension SplitMix64 {
    /// `input` with a few bytes changed, taken out, or doubled.
    fileprivate mutating func variation(of input: [UInt8]) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...6, using: &self) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &self)
            let length = min(Int.random(in: 1...8, using: &self), bytes.count - place)
            switch Int.random(in: 0..<4, using: &self) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &self)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 2: bytes.removeSubrange(place..<place + length)
            default: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
            }
        }
        return bytes
    }
}
