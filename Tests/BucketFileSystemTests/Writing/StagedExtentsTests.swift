import CISAL
import TestSupport
import Testing

@testable import BucketFileSystem

struct StagedExtentsTests {
    /// A file in memory, staged as `FileContents` stages it.
    private struct Model {
        var bytes: [UInt8] = []
        var extents = StagedExtents()
        /// As the journal has them.
        var rows: [Int64: StagedExtents.Extent] = [:]

        mutating func apply(_ change: StagedExtents.Change) {
            for start in change.removed { rows[start] = nil }
            for extent in change.set { rows[extent.range.lowerBound] = extent }
        }

        mutating func write(_ new: [UInt8], at offset: Int) {
            let range = Int64(offset)..<Int64(offset + new.count)
            let seed = extents.seed(at: range.lowerBound)
            apply(extents.doubt(range))
            if bytes.count < offset + new.count {
                bytes += Array(repeating: 0, count: offset + new.count - bytes.count)
            }
            bytes.replaceSubrange(offset..<offset + new.count, with: new)
            apply(extents.insert(range, seed: seed, checksum: StagedExtentsTests.crc(seed.checksum, new)))
        }

        mutating func cut(_ size: Int) {
            bytes = Array(bytes.prefix(size))
            apply(extents.cut(at: Int64(size)))
        }
    }

    fileprivate static func crc(_ start: UInt32, _ bytes: [UInt8]) -> UInt32 {
        unsafe bytes.withUnsafeBytes { unsafe firemount_crc32c(start, $0.baseAddress, $0.count) }
    }

    @Test(arguments: 0..<40)
    func everyChecksumIsThatOfItsBytesAndTheRowsFollow(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var model = Model()
        for step in 0..<200 {
            let end = model.bytes.count
            switch Int.random(in: 0..<8, using: &random) {
            case 0: model.cut(Int.random(in: 0...max(1, end), using: &random))
            case 1...4: model.write((0..<Int.random(in: 1...9, using: &random)).map { _ in UInt8(step) }, at: end)
            default:
                let bytes = (0..<Int.random(in: 1...9, using: &random)).map { _ in UInt8(step) }
                model.write(bytes, at: Int.random(in: 0...end + 5, using: &random))
            }
            for extent in model.extents.extents {
                guard let checksum = extent.checksum else { continue }
                let bytes = Array(model.bytes[Int(extent.range.lowerBound)..<Int(extent.range.upperBound)])
                #expect(checksum == Self.crc(0, bytes), "\(extent)")
            }
            let rows = model.rows.values.sorted { $0.range.lowerBound < $1.range.lowerBound }
            #expect((rows == model.extents.extents) as Bool)
        }
    }

    @Test func aFileWrittenFromItsStartKnowsItsChecksum() {
        var model = Model()
        for part in ["abc", "de", "fghi"] { model.write(Array(part.utf8), at: model.bytes.count) }
        #expect(model.extents.checksumFromStart?.end == 9)
        #expect(model.extents.checksumFromStart?.crc == Self.crc(0, Array("abcdefghi".utf8)))
        model.write([0], at: 4)
        #expect(model.extents.checksumFromStart == nil)
        model.cut(0)
        #expect(model.extents.checksumFromStart?.end == 0)
    }
}
