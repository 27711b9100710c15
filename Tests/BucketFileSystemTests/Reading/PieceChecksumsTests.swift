import TestSupport
import Testing

@testable import BucketFileSystem

/// An object of 10,500 bytes in cells of 1,000.
struct PieceChecksumsTests {
    private static let bytes: [UInt8] = {
        var random = SplitMix64(seed: 3)
        return random.bytes(10_500)
    }()

    private static func piece(_ range: Range<Int>, of bytes: [UInt8] = bytes) -> PieceChecksums.Piece {
        PieceChecksums.Piece(
            range: Int64(range.lowerBound)..<Int64(range.upperBound), checksum: crc32c(of: Array(bytes[range])))
    }

    private static func checksums() -> PieceChecksums {
        PieceChecksums(size: Int64(bytes.count), expected: crc32c(of: bytes), cellSize: 1_000)
    }

    /// The whole, cut at the cells and anywhere else, in any order.
    private static func shuffledPieces(
        _ random: inout SplitMix64, of bytes: [UInt8] = bytes
    ) -> [PieceChecksums.Piece] {
        let count = Int.random(in: 0...30, using: &random)
        var cuts = Set((0..<count).map { _ in Int.random(in: 1..<bytes.count, using: &random) })
        cuts.formUnion(stride(from: 0, to: bytes.count, by: 1_000))
        let sorted = cuts.sorted() + [bytes.count]
        return zip(sorted, sorted.dropFirst()).map { piece($0..<$1, of: bytes) }.shuffled(using: &random)
    }

    @Test(arguments: 0..<30 as Range<UInt64>) func rightPiecesInAnyOrderShowNoDamage(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var checksums = Self.checksums()
        for _ in 0..<3 {
            for piece in Self.shuffledPieces(&random) {
                checksums.insert(piece)
                #expect(checksums.damage() == nil)
            }
            #expect(checksums.partCount == 0)
        }
    }

    @Test(arguments: 0..<30 as Range<UInt64>) func aWrongByteAnywhereIsSeenWithTheLastPieceAndNotBefore(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var damaged = Self.bytes
        damaged[Int.random(in: 0..<damaged.count, using: &random)] ^= 16
        var checksums = Self.checksums()
        let pieces = Self.shuffledPieces(&random, of: damaged)
        for piece in pieces.dropLast() {
            checksums.insert(piece)
            #expect(checksums.damage() == nil)
        }
        checksums.insert(pieces.last!)
        #expect(checksums.damage()?.contains("instead of") == true)
    }

    @Test func aCellThatIsFetchedAgainMustBeTheSame() {
        var checksums = Self.checksums()
        for part in [2_000..<3_000, 2_000..<2_400, 2_400..<3_000] { checksums.insert(Self.piece(part)) }
        #expect(checksums.damage() == nil)
        checksums.insert(PieceChecksums.Piece(range: 2_500..<3_000, checksum: 1))
        #expect(checksums.damage() == nil)
        checksums.insert(Self.piece(2_000..<2_500))
        #expect(checksums.damage()?.contains("and again with") == true)
    }

    @Test func whatIsKnownOfACellOutlivesAPartThatIsFetchedAgain() {
        var checksums = Self.checksums()
        for start in stride(from: 0, to: 9_000, by: 1_000) { checksums.insert(Self.piece(start..<start + 1_000)) }
        checksums.insert(Self.piece(3_500..<3_700))
        checksums.insert(Self.piece(9_000..<10_000))
        checksums.insert(PieceChecksums.Piece(range: 10_000..<10_500, checksum: 1))
        #expect(checksums.damage() != nil)
    }

    @Test func partsThatOverlapOthersTakeTheirPlace() {
        var checksums = Self.checksums()
        for start in stride(from: 1_000, to: 10_500, by: 1_000) {
            checksums.insert(Self.piece(start..<min(start + 1_000, 10_500)))
        }
        checksums.insert(PieceChecksums.Piece(range: 0..<600, checksum: 1))
        checksums.insert(Self.piece(400..<1_000))
        checksums.insert(Self.piece(0..<400))
        #expect(checksums.damage() == nil)
        #expect(checksums.partCount == 0)
    }

    @Test func onlyLoosePartsAreToBeFetchedFromTheirBeginning() {
        var checksums = Self.checksums()
        checksums.insert(Self.piece(2_000..<3_000))
        checksums.insert(Self.piece(4_100..<4_200))
        #expect(checksums.start(ofPartAt: 2_999) == nil)
        #expect(checksums.start(ofPartAt: 4_150) == 4_100)
        #expect(checksums.start(ofPartAt: 4_200) == nil)
    }

    @Test func withoutAnExpectedChecksumNothingIsKept() {
        var checksums = PieceChecksums(size: 10_000, expected: nil)
        checksums.insert(PieceChecksums.Piece(range: 0..<10, checksum: 1))
        #expect(checksums.partCount == 0)
    }

    @Test func scatteredPartsAreForgottenWhenThereAreTooMany() {
        var checksums = PieceChecksums(size: 1 << 30, expected: 1)
        for index in 0..<Int64(PieceChecksums.mostParts * 2) {
            checksums.insert(PieceChecksums.Piece(range: index * 8..<index * 8 + 4, checksum: 0))
            #expect(checksums.partCount <= PieceChecksums.mostParts)
        }
    }

    @Test(arguments: [1, 1 << 20, 64 << 30, 64 << 30 + 1, 5 << 40] as [Int64]) func cellsAreNeverTooMany(size: Int64) {
        let checksums = PieceChecksums(size: size, expected: 1)
        #expect((size + checksums.cellSize - 1) / checksums.cellSize <= 1 << 16)
        #expect(checksums.cellSize % (1 << 20) == 0)
    }
}
