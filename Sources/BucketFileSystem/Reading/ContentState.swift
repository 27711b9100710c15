import ObjectStore

/// What is known of one object generation's bytes: extents in memory, and flights that bring more. A value that
/// decides; `ObjectContent` holds it under its lock and acts.
///
/// Invariant: extents and flights are sorted by offset, not empty, inside the object, and do not overlap.
struct ContentState {
    /// Bytes in memory: the first of one block.
    struct Extent: OffsetRange {
        var range: Range<Int64>
        var block: Block
        var ticket: MemoryBudget.Ticket
        var isUnread: Bool
    }

    /// A read that waits for flights.
    struct Waiting {
        var bytes: ReadBytes
        /// So many flights have not brought all it wants.
        var flights: Int
        var completion: ReadCompletion
    }

    /// How a read is answered.
    enum Answer {
        case here(ReadBytes)
        /// It is completed when flights under way have brought its bytes.
        case joined
        /// Nobody fetches these yet; nothing was done.
        case missing(Missing)
        /// Nothing of this content can be trusted.
        case damaged(StorageError)
    }

    struct Missing: Equatable {
        /// In order.
        var gaps: [Range<Int64>]
        /// The same gaps, each with the neighbours that the read's plan wants.
        var generous: [Range<Int64>]
    }

    let size: Int64
    let budget: MemoryBudget
    /// The object as the server has it now.
    var identity: ObjectIdentity
    private(set) var extents: [Extent] = []
    var flights: [Flight] = []
    var waiting: [Int: Waiting] = [:]
    private var lastWaiting = 0
    private(set) var checksums: PieceChecksums
    /// What was fetched is not what the bucket has. Which part of it is wrong cannot be told, and some of it was handed
    /// out: so nothing more is.
    private(set) var damage: StorageError?

    init(size: Int64, crc32c: UInt32?, budget: MemoryBudget, identity: ObjectIdentity) {
        self.size = size
        checksums = PieceChecksums(size: size, expected: crc32c)
        self.budget = budget
        self.identity = identity
    }

    // MARK: Reads

    mutating func answer(_ read: PendingRead) -> Answer {
        if let damage { return .damaged(damage) }
        let wanted = read.wanted
        // Bytes that are read in a row are hardly read again; others are kept for longer.
        let touches = !read.advice.plan.isSequential
        var spans: [Span] = []
        var joins: [(flight: Int, end: Int64)] = []
        var next = wanted.lowerBound
        while next < wanted.upperBound {
            let rest = next..<wanted.upperBound
            if let index = extents.index(containing: next) {
                spans.append(use(index, for: rest, touches: touches))
            } else if let index = flights.index(containing: next) {
                let part = rest.clamped(to: flights[index].range)
                spans += flights[index].spans(of: part)
                if part.upperBound > flights[index].readableEnd { joins.append((index, part.upperBound)) }
                flights[index].readEnd = max(flights[index].readEnd, part.upperBound)
            } else {
                return .missing(missing(for: read))
            }
            next = spans[spans.count - 1].end
        }
        let bytes = ReadBytes(spans, of: budget)
        guard !joins.isEmpty else { return .here(bytes) }
        lastWaiting += 1
        waiting[lastWaiting] = Waiting(bytes: bytes, flights: joins.count, completion: read.completion)
        for join in joins { flights[join.flight].readers.append((lastWaiting, join.end)) }
        return .joined
    }

    private func missing(for read: PendingRead) -> Missing {
        let gaps = gaps(in: read.wanted)
        let generous = gaps.map { gap in
            self.gap(around: gap.lowerBound, within: bounds(for: gap, of: read))
        }
        return Missing(gaps: gaps, generous: generous)
    }

    /// What the read's plan wants. Who reads on where bytes have left the memory that were read before begins a little
    /// earlier, so that all can be checked again.
    private func bounds(for gap: Range<Int64>, of read: PendingRead) -> Range<Int64> {
        let planned = read.advice.plan.demand.spanning(gap)
        guard read.wanted.count >= ReadAheadWindow.neighbourhood, gap.lowerBound == read.wanted.lowerBound,
            let start = checksums.start(ofPartAt: gap.lowerBound)
        else { return planned }
        return planned.spanning(start..<gap.upperBound)
    }

    private mutating func use(_ index: Int, for wanted: Range<Int64>, touches: Bool) -> Span {
        if extents[index].isUnread {
            extents[index].isUnread = false
            budget.markRead(extents[index].ticket)
        }
        if touches { budget.touch(extents[index].ticket) }
        let extent = extents[index]
        return Span(extent.block, startingAt: extent.range.lowerBound, wanted.clamped(to: extent.range))
    }

    // MARK: Gaps

    /// Parts of `range` that are neither in memory nor under way.
    func gaps(in range: Range<Int64>) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var next = range.lowerBound
        while next < range.upperBound {
            if let covered = covered(at: next) {
                next = covered
            } else {
                let gap = gap(around: next, within: range)
                gaps.append(gap)
                next = gap.upperBound
            }
        }
        return gaps
    }

    /// The gap that holds `offset`, which nothing covers, as far as `bounds`.
    private func gap(around offset: Int64, within bounds: Range<Int64>) -> Range<Int64> {
        let extent = extents.firstIndex(endingAfter: offset)
        let flight = flights.firstIndex(endingAfter: offset)
        let lower = max(
            extent > 0 ? extents[extent - 1].range.upperBound : 0, flight > 0 ? flights[flight - 1].range.upperBound : 0
        )
        let upper = min(
            extent < extents.count ? extents[extent].range.lowerBound : size,
            flight < flights.count ? flights[flight].range.lowerBound : size)
        return max(lower, bounds.lowerBound)..<min(upper, bounds.upperBound)
    }

    /// Where what covers `offset` ends; nil in a gap.
    private func covered(at offset: Int64) -> Int64? {
        if let index = extents.index(containing: offset) { return extents[index].range.upperBound }
        return flights.index(containing: offset).map { flights[$0].range.upperBound }
    }

    /// All of `range` is in memory, or comes with flights whose generation is known to be ours.
    func isComing(_ range: Range<Int64>) -> Bool {
        gaps(in: range).isEmpty && flights.allSatisfy { $0.isValidated || !$0.range.overlaps(range) }
    }

    // MARK: Checksums

    /// Bytes have come.
    mutating func note(_ pieces: [PieceChecksums.Piece]) {
        for piece in pieces { checksums.insert(piece) }
        guard damage == nil, let problem = checksums.damage() else { return }
        damage = StorageError(.corrupted, operation: "read", object: identity.name, message: problem)
    }

    /// A flight has ended, maybe early.
    mutating func noteUnfinished(of flight: Flight) {
        if let piece = flight.unfinished, !flight.isWholeObject { note([piece]) }
    }

    // MARK: Extents

    /// Keeps what a flight brought that is no longer among `flights`.
    mutating func keep(_ flight: Flight) {
        var kept: [Extent] = []
        for (range, block) in flight.filledBlocks {
            let isUnread = range.lowerBound >= flight.readEnd
            let ticket = budget.admit(
                MemoryBudget.Resident(owner: flight.content, offset: range.lowerBound, isUnread: isUnread))
            kept.append(Extent(range: range, block: block, ticket: ticket, isUnread: isUnread))
        }
        extents.insert(contentsOf: kept, at: extents.firstIndex(endingAfter: flight.range.lowerBound))
    }

    /// Lets go of the extent with this ticket, unless its block is in use.
    /// - Returns: the block, to be freed after the lock.
    mutating func giveUp(_ resident: MemoryBudget.Resident, _ ticket: MemoryBudget.Ticket) -> Block? {
        guard let index = extents.index(containing: resident.offset), extents[index].ticket == ticket else {
            return nil
        }
        // References come from here only, so what is alone now stays alone.
        guard isKnownUniquelyReferenced(&extents[index].block) else {
            extents[index].ticket = budget.readmit(resident)
            return nil
        }
        return extents.remove(at: index).block
    }

    /// - Returns: the extents, to be freed after the lock.
    mutating func dropExtents() -> [Extent] {
        defer { extents = [] }
        for extent in extents { budget.dismiss(extent.ticket) }
        return extents
    }
}

typealias ReadCompletion = @Sendable (Result<ReadBytes, StorageError>) -> Void

/// An object generation, as requests name it.
struct ObjectIdentity: Equatable, Sendable {
    var name: ObjectName
    var objectGeneration: ObjectGeneration
}

extension Range<Int64> {
    /// The shortest range with both in it.
    func spanning(_ other: Range<Int64>) -> Range<Int64> {
        Swift.min(lowerBound, other.lowerBound)..<Swift.max(upperBound, other.upperBound)
    }
}

/// Something that covers bytes of an object.
protocol OffsetRange {
    var range: Range<Int64> { get }
}

/// Sorted by offset, without overlaps.
extension Array where Element: OffsetRange {
    /// `count` if all end before.
    func firstIndex(endingAfter offset: Int64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].range.upperBound > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }

    func index(containing offset: Int64) -> Int? {
        let index = firstIndex(endingAfter: offset)
        return index < count && self[index].range.contains(offset) ? index : nil
    }
}
