/// Which bytes of a file are staged, and what shows where none are: the state behind unsaved changes. A plain value;
/// `FileContents` keeps it under its lock and moves the bytes.
///
/// The file reads, at each position: the staging file where `staged` has it; else the bucket's version below
/// `baseLimit`; else zero.
struct StagedWrite {
    enum Segment: Equatable {
        case staged(Range<Int64>)
        case base(Range<Int64>)
        case zeros(Range<Int64>)
    }

    private(set) var file: StagingFile
    private(set) var size: Int64
    private(set) var extents = StagedExtents()
    /// Bytes of the bucket's version that were fetched into the staging file.
    private var filled = ByteRanges()
    /// Truncating hides what the bucket's version has above, also when the file grows again.
    private(set) var baseLimit: Int64
    /// Counts every change, at its begin and at its end: what was read between two equal values is one state.
    private(set) var version: UInt64 = 0
    private var underWay: [Range<Int64>] = []

    var staged: ByteRanges { extents.ranges }
    /// CRC32C of all bytes below `end`, kept as long as the file is written from its start on.
    var checksum: (end: Int64, crc: UInt32)? { extents.checksumFromStart }

    init(file: StagingFile, baseSize: Int64) {
        self.file = file
        size = baseSize
        baseLimit = baseSize
    }

    /// The same content in another staging file, for changes to come.
    func copied(to file: StagingFile) -> StagedWrite {
        var copy = self
        copy.file = file
        copy.version += 1
        return copy
    }

    /// Bytes are about to be written. Answers how their checksum begins, and the extents whose checksum they may make
    /// wrong.
    mutating func beginWrite(_ range: Range<Int64>) -> (seed: StagedExtents.Seed, doubted: StagedExtents.Change) {
        version += 1
        underWay.append(range)
        let seed = extents.seed(at: range.lowerBound)
        return (seed, extents.doubt(range))
    }

    /// - Parameter crc: the checksum of the bytes of `range`, begun with `seed`.
    mutating func endWrite(_ range: Range<Int64>, seed: StagedExtents.Seed, crc: UInt32) -> StagedExtents.Change {
        version += 1
        if let index = underWay.firstIndex(of: range) { underWay.remove(at: index) }
        // Two writes of one place at once: which came last is not known.
        let isClear = !underWay.contains { $0.overlaps(range) }
        size = max(size, range.upperBound)
        return extents.insert(range, seed: seed, checksum: isClear ? crc : nil)
    }

    /// A write that failed part-way: its range is whatever it is now.
    mutating func abortWrite(_ range: Range<Int64>) {
        version += 1
        if let index = underWay.firstIndex(of: range) { underWay.remove(at: index) }
    }

    mutating func truncate(to newSize: Int64) -> StagedExtents.Change {
        version += 1
        filled.cut(at: newSize)
        baseLimit = min(baseLimit, newSize)
        size = newSize
        return extents.cut(at: newSize)
    }

    /// What the bytes of `range` (cut at the end of the file) are made of, in order.
    func segments(of range: Range<Int64>) -> [Segment] {
        var segments: [Segment] = []
        var next = range.lowerBound
        for gap in present.missing(in: range) {
            if gap.lowerBound > next { segments.append(.staged(next..<gap.lowerBound)) }
            let baseEnd = min(max(baseLimit, gap.lowerBound), gap.upperBound)
            if baseEnd > gap.lowerBound { segments.append(.base(gap.lowerBound..<baseEnd)) }
            if gap.upperBound > baseEnd { segments.append(.zeros(baseEnd..<gap.upperBound)) }
            next = gap.upperBound
        }
        if range.upperBound > next { segments.append(.staged(next..<range.upperBound)) }
        return segments
    }

    /// What must come from the bucket's version before the staging file is whole.
    var missingBase: [Range<Int64>] { present.missing(in: 0..<min(baseLimit, size)) }

    /// How many bytes from the start on are still the base's; 0 if any of those below `baseLimit` were changed.
    var untouchedBase: Int64 {
        if let first = staged.ranges.first, first.lowerBound < baseLimit { return 0 }
        return min(baseLimit, size)
    }

    /// Nothing was written yet, and all there is comes from the base: it may grow from it.
    mutating func growFromBase(to newSize: Int64) {
        version += 1
        baseLimit = newSize
        size = newSize
    }

    /// What the file reads now is the base. What is staged are copies of it.
    mutating func becameBaseThroughout() {
        filled = present
        extents = StagedExtents()
        baseLimit = size
    }

    /// How many bytes of the staging file are in use.
    var presentCount: Int64 { present.ranges.reduce(0) { $0 + Int64($1.count) } }

    /// How many bytes of `range` are neither staged nor fetched yet.
    func newCount(in range: Range<Int64>) -> Int64 { present.missingCount(in: range) }

    /// Bytes are being put in right now.
    var isBeingWritten: Bool { !underWay.isEmpty }

    private var present: ByteRanges { staged.union(filled) }

    /// The parts of `range` that base bytes may still fill: neither staged nor being written right now.
    func fillable(_ range: Range<Int64>) -> [Range<Int64>] {
        var taken = present
        for writing in underWay { taken.insert(writing) }
        return taken.missing(in: range.lowerBound..<max(range.lowerBound, min(range.upperBound, baseLimit)))
    }

    /// Base bytes were put into the staging file; what the file reads did not change.
    mutating func didFill(_ range: Range<Int64>) { filled.insert(range) }

    /// What was fetched is not what the bucket has: fetch it again.
    mutating func dropFilled() { filled = ByteRanges() }

    /// The bucket has the bytes of `version`; everything is in the staging file, so no base is needed any more.
    mutating func becameBase() {
        for range in filled.ranges where extents.ranges.missingCount(in: range) > 0 {
            extents.insert(range, seed: .fresh, checksum: nil)
        }
        filled = ByteRanges()
        baseLimit = 0
    }
}
