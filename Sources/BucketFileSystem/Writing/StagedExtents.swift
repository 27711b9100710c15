/// Which bytes of a file are staged, with the CRC32C of each run of them where it is known: what the journal keeps of a
/// staging file. A plain value; the journal's rows follow what its changes say.
///
/// Invariant: a checksum belongs to a whole range of `ranges`; its key is where that range begins.
struct StagedExtents: Equatable {
    private(set) var ranges = ByteRanges()
    private var checksums: [Int64: UInt32] = [:]

    struct Extent: Equatable, Sendable {
        var range: Range<Int64>
        /// nil: not known, because parts of it were written over each other or out of order.
        var checksum: UInt32?
    }

    /// What became of the extents: those that began at `removed` are gone or have grown into `set`.
    struct Change: Equatable {
        var removed: [Int64] = []
        var set: [Extent] = []
        var isEmpty: Bool { removed.isEmpty && set.isEmpty }
    }

    /// How the checksum of bytes that are about to be written begins.
    enum Seed: Equatable {
        /// They stand alone.
        case fresh
        /// They go on where an extent ends.
        case continues(start: Int64, checksum: UInt32)

        var checksum: UInt32 {
            switch self {
            case .fresh: 0
            case .continues(_, let checksum): checksum
            }
        }
    }

    var isEmpty: Bool { ranges.isEmpty }

    var extents: [Extent] { ranges.ranges.map { Extent(range: $0, checksum: checksums[$0.lowerBound]) } }

    init() {}

    init(_ extents: [Extent]) {
        for extent in extents { insert(extent.range, seed: .fresh, checksum: extent.checksum) }
    }

    /// How far the file is staged from its start on, and the CRC32C of that, if it is known.
    var checksumFromStart: (end: Int64, crc: UInt32)? {
        guard let first = ranges.ranges.first, first.lowerBound == 0 else { return (0, 0) }
        return checksums[0].map { (first.upperBound, $0) }
    }

    func seed(at offset: Int64) -> Seed {
        guard let before = ranges.touching(offset..<offset).first, before.upperBound == offset,
            let checksum = checksums[before.lowerBound]
        else { return .fresh }
        return .continues(start: before.lowerBound, checksum: checksum)
    }

    /// A write to `range` is about to make these checksums wrong: they must be forgotten before it.
    mutating func doubt(_ range: Range<Int64>) -> Change {
        var change = Change()
        for extent in ranges.touching(range)
        where extent.overlaps(range) && checksums.removeValue(forKey: extent.lowerBound) != nil {
            change.set.append(Extent(range: extent, checksum: nil))
        }
        return change
    }

    /// - Parameter checksum: of the bytes of `range`, begun with `seed`; nil: not known.
    @discardableResult
    mutating func insert(_ range: Range<Int64>, seed: Seed, checksum: UInt32?) -> Change {
        guard !range.isEmpty else { return Change() }
        let before = Array(ranges.touching(range))
        ranges.insert(range)
        let start = min(range.lowerBound, before.first?.lowerBound ?? range.lowerBound)
        let whole = start..<max(range.upperBound, before.last?.upperBound ?? range.upperBound)
        var known: UInt32?
        switch seed {
        case .fresh: if whole == range { known = checksum }
        case .continues(let first, let old):
            // Only if nobody wrote there meanwhile.
            if before.count == 1, before[0] == first..<range.lowerBound, checksums[first] == old { known = checksum }
        }
        for extent in before { checksums[extent.lowerBound] = nil }
        checksums[whole.lowerBound] = known
        return Change(
            removed: before.map(\.lowerBound).filter { $0 != whole.lowerBound },
            set: [Extent(range: whole, checksum: known)])
    }

    mutating func cut(at end: Int64) -> Change {
        var change = Change()
        for extent in ranges.ranges.reversed() {
            guard extent.upperBound > end else { break }
            checksums[extent.lowerBound] = nil
            if extent.lowerBound < end {
                change.set.append(Extent(range: extent.lowerBound..<end, checksum: nil))
            } else {
                change.removed.append(extent.lowerBound)
            }
        }
        ranges.cut(at: end)
        return change
    }
}
