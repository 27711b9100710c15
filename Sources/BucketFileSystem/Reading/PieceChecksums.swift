/// CRC32C of an object's bytes, piece by piece. Once all of them have been fetched, in whatever order, they tell
/// whether what came is what the bucket has. A plain value, part of a `ContentState`.
///
/// The object is divided into cells. What is known of a cell stays when its bytes leave the memory; when all of it has
/// been fetched again, it must be the same.
///
/// Invariant: cells and parts are sorted by offset; parts are not empty, each inside a cell, and do not overlap.
struct PieceChecksums {
    struct Piece: OffsetRange, Equatable {
        var range: Range<Int64>
        var checksum: UInt32
    }

    private struct Cell {
        var number: UInt32
        var checksum: UInt32
    }

    /// Of all bytes, as the bucket says; nil: it does not, and nothing is kept here.
    let expected: UInt32?
    private let size: Int64
    /// In bytes; the last cell may be shorter.
    let cellSize: Int64
    /// Of which all is known.
    private var cells: [Cell] = []
    /// Of other cells, or fetched again.
    private var parts: [Piece] = []
    /// All cells together have been compared with `expected`, or some are not known.
    private var isCompared = true
    /// Two fetches of one cell brought different bytes.
    private var contradiction: String?

    /// Of 8 bytes each, in an object: half a mebibyte. Up to 64 GiB a cell has one mebibyte, as a block in memory has.
    private static let mostCells: Int64 = 1 << 16
    private static let smallestCell: Int64 = 1 << 20
    /// So many parts are those of 256 MiB of small random reads. More are not worth their memory.
    static let mostParts = 1 << 12

    /// - Parameter cellSize: nil: as suits the object.
    init(size: Int64, expected: UInt32?, cellSize: Int64? = nil) {
        self.size = size
        self.expected = expected
        self.cellSize =
            cellSize ?? max(Self.smallestCell, ((size - 1) / Self.mostCells + 1).roundedUp(to: Self.smallestCell))
    }

    var partCount: Int { parts.count }

    /// Bytes of one cell have come. They take the place of parts that they have bytes of: those are in memory no more,
    /// or nobody would have fetched them again.
    mutating func insert(_ piece: Piece) {
        guard expected != nil, !piece.range.isEmpty else { return }
        let cell = cell(containing: piece.range.lowerBound)
        parts.replaceSubrange(parts(overlapping: piece.range), with: CollectionOfOne(piece))
        let all = parts(overlapping: cell)
        if parts[all].reduce(0, { $0 + Int64($1.range.count) }) == Int64(cell.count) {
            let checksum = CRC32C.combine(parts[all].lazy.map { ($0.checksum, Int64($0.range.count)) })
            parts.removeSubrange(all)
            complete(cell, checksum)
        } else if parts.count > Self.mostParts {
            parts = []
        }
    }

    private mutating func complete(_ cell: Range<Int64>, _ checksum: UInt32) {
        let number = UInt32(cell.lowerBound / cellSize)
        let index = index(of: number)
        guard index < cells.count, cells[index].number == number else {
            cells.insert(Cell(number: number, checksum: checksum), at: index)
            isCompared = false
            return
        }
        guard cells[index].checksum != checksum else { return }
        contradiction =
            "bytes \(cell.lowerBound) to \(cell.upperBound) came with CRC32C \(cells[index].checksum.hexadecimal), and "
            + "again with \(checksum.hexadecimal)"
    }

    /// Why what was fetched cannot be what the bucket has; nil: as far as is known, it is.
    mutating func damage() -> String? {
        if let contradiction { return contradiction }
        guard let expected, !isCompared, Int64(cells.count) == (size + cellSize - 1) / cellSize else { return nil }
        isCompared = true
        let whole = CRC32C.combine(
            cells.lazy.map { [size, cellSize] cell in
                let start = Int64(cell.number) * cellSize
                return (cell.checksum, min(cellSize, size - start))
            })
        return Self.difference(whole, expected)
    }

    /// What is wrong with an object that came with the checksum `found`; nil: nothing.
    static func difference(_ found: UInt32, _ expected: UInt32) -> String? {
        found == expected
            ? nil : "what came has CRC32C \(found.hexadecimal) instead of \(expected.hexadecimal)"
    }

    /// Where the part begins that has the byte at `offset`. Were only its rest fetched again, nothing would be known of
    /// its beginning any more.
    func start(ofPartAt offset: Int64) -> Int64? {
        parts.index(containing: offset).map { parts[$0].range.lowerBound }
    }

    // MARK: -

    func cell(containing offset: Int64) -> Range<Int64> {
        let start = offset.roundedDown(to: cellSize)
        return start..<min(start + cellSize, size)
    }

    private func parts(overlapping range: Range<Int64>) -> Range<Int> {
        let first = parts.firstIndex(endingAfter: range.lowerBound)
        var end = first
        while end < parts.count, parts[end].range.lowerBound < range.upperBound { end += 1 }
        return first..<end
    }

    /// Where the cell is, or belongs.
    private func index(of number: UInt32) -> Int {
        var low = 0
        var high = cells.count
        while low < high {
            let middle = (low + high) / 2
            if cells[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension UInt32 {
    /// As the attribute `user.storage.crc32c` shows it.
    fileprivate var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}
