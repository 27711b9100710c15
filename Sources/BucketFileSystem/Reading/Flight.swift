import ObjectStore

/// A request under way: which bytes it brings, into which memory, and who waits for them. Part of a `ContentState`.
struct Flight: OffsetRange {
    let range: Range<Int64>
    /// For all of `range`, each but the last a whole slab.
    let blocks: [Block]
    let content: WeakExtentOwner
    /// The way of a cursor that fetches ahead; nil for a demand, and once several have an interest.
    var way: ReadCursor.WayID?
    /// Which request this is: the first, or one that goes on where an earlier one failed.
    var fetch: Fetch
    var transfer: (any StoreTransfer)?
    var receivedEnd: Int64
    /// The generation is known to be ours: it was pinned, or a head said so.
    var isValidated: Bool
    /// End of what somebody has read, or waits for.
    var readEnd: Int64
    /// Reads that wait for the bytes before `end`.
    var readers: [(waiting: Int, end: Int64)] = []
    var opens: [PendingOpen] = []
    /// The checksum of the bytes that came last, since the last border of pieces.
    var unfinished: PieceChecksums.Piece?

    /// It brings a whole small object, so the store checks its checksum at the end; nobody gets a byte before that.
    let isWholeObject: Bool
    /// It was damaged once, and is fetched again.
    var isSecondAttempt = false
    /// Of the whole object, when all of it has come.
    var wholeChecksum: UInt32?

    /// Bytes before this may be handed out.
    var readableEnd: Int64 { isWholeObject ? range.lowerBound : receivedEnd }

    /// It is to be fetched once more, from its start.
    mutating func startAgain() {
        isSecondAttempt = true
        receivedEnd = range.lowerBound
        unfinished = nil
        wholeChecksum = nil
    }

    var isWanted: Bool { !readers.isEmpty || !opens.isEmpty }

    /// Where bytes of `part` are, or will be.
    func spans(of part: Range<Int64>) -> [Span] {
        blocks(in: part).map { range, block in
            Span(block, startingAt: range.lowerBound, part.clamped(to: range))
        }
    }

    /// Blocks with the part of them that was received.
    var filledBlocks: [(range: Range<Int64>, block: Block)] {
        blocks(in: range.lowerBound..<receivedEnd).map {
            ($0.range.clamped(to: range.lowerBound..<receivedEnd), $0.block)
        }
    }

    /// The blocks that hold bytes of `part`, with what each is for.
    private func blocks(in part: Range<Int64>) -> [(range: Range<Int64>, block: Block)] {
        guard !part.isEmpty else { return [] }
        let slab = Int64(SlabPool.slabSize)
        let first = Int((part.lowerBound - range.lowerBound) / slab)
        let last = Int((part.upperBound - 1 - range.lowerBound) / slab)
        return (first...last).map { index in
            let start = range.lowerBound + Int64(index) * slab
            return (start..<min(start + slab, range.upperBound), blocks[index])
        }
    }
}

/// Receives one request's answer for an object's content.
final class Fetch: ReadReceiver {
    let content: ObjectContent
    /// What was asked for.
    let identity: ObjectIdentity
    let isPinned: Bool
    /// The first byte that it brings is in the flight at this offset.
    let offset: Int64

    init(content: ObjectContent, identity: ObjectIdentity, isPinned: Bool, offset: Int64) {
        self.content = content
        self.identity = identity
        self.isPinned = isPinned
        self.offset = offset
    }

    func received(_ head: ReadHead) { content.received(head, by: self) }
    func received(_ bytes: UnsafeRawBufferPointer) { unsafe content.received(bytes, by: self) }
    func completed(_ result: Result<Void, StorageError>) { content.completed(result, by: self) }
}

/// Bytes of one block.
@safe
struct Span {
    let block: Block
    let bytes: UnsafeRawBufferPointer
    /// Where they end in the object.
    let end: Int64

    /// - Parameters:
    ///   - start: offset in the object of the block's first byte.
    ///   - range: offsets in the object, inside the block.
    init(_ block: Block, startingAt start: Int64, _ range: Range<Int64>) {
        self.block = block
        unsafe bytes = UnsafeRawBufferPointer(
            rebasing: block.bytes[Int(range.lowerBound - start)..<Int(range.upperBound - start)])
        end = range.upperBound
    }

    /// Only the transfer that the block belongs to does this, with bytes that are not announced yet.
    func fill(from source: UnsafeRawBufferPointer) {
        unsafe UnsafeMutableRawBufferPointer(mutating: bytes).copyMemory(from: source)
    }
}

extension ReadBytes {
    init(_ spans: [Span], of budget: MemoryBudget) {
        let pin = ReadPin(spans.map(\.block), of: budget)
        pieces = spans.map { unsafe Piece(bytes: $0.bytes, owner: pin) }
    }
}
