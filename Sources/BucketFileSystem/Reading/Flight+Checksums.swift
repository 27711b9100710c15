import CISAL

/// The checksums of what a flight brings. Its pieces end where a block of memory does, because that leaves the memory
/// as a whole; where a cell of `PieceChecksums` does; and where the flight does.
extension Flight {
    /// Where the next `count` bytes go.
    /// - Parameter cellSize: nil: nobody knows the object's checksum, so none are needed.
    func room(for count: Int, cellSize: Int64?) -> Room {
        let part = receivedEnd..<receivedEnd + Int64(count)
        return Room(
            start: receivedEnd, spans: spans(of: part), pieces: cellSize.map { pieces(of: part, cellSize: $0) } ?? [])
    }

    /// The first goes on where the last one before was not at its end.
    private func pieces(of part: Range<Int64>, cellSize: Int64) -> [PieceChecksums.Piece] {
        var pieces: [PieceChecksums.Piece] = []
        var next = part.lowerBound
        while next < part.upperBound {
            let end = min(part.upperBound, border(after: next, cellSize: cellSize))
            pieces.append(PieceChecksums.Piece(range: next..<end, checksum: 0))
            next = end
        }
        if let unfinished, !pieces.isEmpty {
            pieces[0] = PieceChecksums.Piece(
                range: unfinished.range.lowerBound..<pieces[0].range.upperBound, checksum: unfinished.checksum)
        }
        return pieces
    }

    private func border(after offset: Int64, cellSize: Int64) -> Int64 {
        let slab = Int64(SlabPool.slabSize)
        let block = range.lowerBound + (offset - range.lowerBound).roundedDown(to: slab) + slab
        return min(block, offset.roundedDown(to: cellSize) + cellSize, range.upperBound)
    }

    /// `count` bytes have come, as `pieces` with their checksums.
    /// - Returns: the pieces that are at their end.
    mutating func receive(
        _ count: Int, _ pieces: [PieceChecksums.Piece], cellSize: Int64
    ) -> [PieceChecksums.Piece] {
        receivedEnd += Int64(count)
        guard let last = pieces.last else { return [] }
        let isFinished = last.range.upperBound == border(after: last.range.upperBound - 1, cellSize: cellSize)
        unfinished = isFinished ? nil : last
        return isFinished ? pieces : pieces.dropLast()
    }
}

/// Where bytes go that have come.
struct Room {
    /// In the object, of the first.
    let start: Int64
    /// Of one block each.
    let spans: [Span]
    /// Each with the checksum of what has come of it before.
    let pieces: [PieceChecksums.Piece]

    func fill(from bytes: UnsafeRawBufferPointer) {
        var next = 0
        for span in spans {
            let count = unsafe span.bytes.count
            unsafe span.fill(from: UnsafeRawBufferPointer(rebasing: bytes[next..<next + count]))
            next += count
        }
    }

    /// The pieces with the checksums of what has come now as well.
    func pieces(with bytes: UnsafeRawBufferPointer) -> [PieceChecksums.Piece] {
        pieces.map { piece in
            let new = max(piece.range.lowerBound, start)..<piece.range.upperBound
            let part = unsafe UnsafeRawBufferPointer(
                rebasing: bytes[Int(new.lowerBound - start)..<Int(new.upperBound - start)])
            let checksum = unsafe firemount_crc32c(piece.checksum, part.baseAddress, part.count)
            return PieceChecksums.Piece(range: piece.range, checksum: checksum)
        }
    }
}
