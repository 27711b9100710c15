/// One reader's way through an object, and how far to fetch ahead of it. A pure value: it is told of reads and answers
/// what to fetch; `ReadEngine.swift` tells the whole story.
///
/// The kernel splits a program's reads, sends them from several threads and asks ahead itself, so reads of one way
/// arrive a little out of order: what is near the front belongs to it.
struct ReadAheadWindow: Sendable {
    /// What a read asks of the fetching.
    struct Plan: Equatable, Sendable {
        /// Fetch this if the wanted bytes are missing: they, and neighbours worth having.
        var demand: Range<Int64>
        /// Fetch what is missing here, though nobody waits for it. Empty: nothing.
        var ahead: Range<Int64>
        /// Bytes that one request shall move.
        var chunk: Int64
        /// A read in a row: its bytes are hardly read again.
        var isSequential: Bool

        /// What to look through instead of `ahead` when the wanted bytes were missing although the window had passed
        /// them: more of it may be gone.
        var aheadAfterMiss: Range<Int64> {
            isSequential ? demand.upperBound..<max(demand.upperBound, ahead.upperBound) : ahead
        }
    }

    static let mebibyte: Int64 = 1 << 20
    /// Past the first read of a beginning, and the first window. At 60 MB/s it takes about the 20 ms that any request
    /// takes, so asking for less would save little.
    static let firstPiece = mebibyte
    /// Enough for 25 requests of 5 MiB: a link of 20 ms and 60 MB/s a connection moves 1.2 GB/s that way.
    static let largestWindow = 128 * mebibyte
    /// Requests in flight for a whole window. Many more would share the link, and the next bytes come later.
    private static let width: Int64 = 24
    /// The window is at most so many times what was read in a row: the price of a reader that stops.
    private static let trust: Int64 = 16
    /// The same after a single large read of the beginning.
    private static let firstTrust: Int64 = 4
    /// A first read of so much, or two that make it, comes from a program that reads on: `cp` and `cat` do, and the
    /// kernel joins what they ask for. Smaller ones need a third.
    private static let evident: Int64 = 256 << 10
    /// Random reads fetch the aligned piece of this size around them: at 60 MB/s it adds 1 ms to the 20 ms of a
    /// request, and 64 in flight still fit into 2 Gbit/s.
    static let neighbourhood: Int64 = 64 << 10
    /// An object up to this size is fetched whole whichever part is wanted first.
    private static let smallObject: Int64 = 128 << 10
    private static let page: Int64 = 4 << 10
    /// How far reads of an open window may stray from its front: eight requests of 1 MiB, the most that the kernel was
    /// seen to have in flight.
    private static let stray = 8 * mebibyte

    /// End of the furthest byte read.
    private(set) var front: Int64
    /// Bytes fetched ahead while the window is open; 0: closed.
    private(set) var size: Int64 = 0
    /// Where fetching ahead goes on.
    private var aheadEnd: Int64
    private var readsInARow = 0
    private var bytesInARow: Int64 = 0

    /// A way that starts with a read at `offset`.
    init(startingAt offset: Int64) {
        front = offset
        aheadEnd = offset
    }

    var isOpen: Bool { size > 0 }

    /// Whether a read belongs to this way.
    func accepts(_ wanted: Range<Int64>) -> Bool {
        let slack = isOpen ? Self.stray : 4 * Int64(wanted.count)
        return wanted.lowerBound >= front - slack && wanted.lowerBound <= max(front + slack, aheadEnd)
    }

    /// - Parameters:
    ///   - wanted: not empty, inside the object, accepted.
    ///   - limit: the largest window for now.
    mutating func read(_ wanted: Range<Int64>, objectSize: Int64, limit: Int64) -> Plan {
        let wasStart = readsInARow == 0
        advance(to: wanted)
        openOrGrow(isBeginning: wasStart && wanted.lowerBound == 0, limit: limit)
        let demand = demand(wanted, objectSize: objectSize, isStart: wasStart)
        let ahead = ahead(from: max(demand.upperBound, aheadEnd), objectSize: objectSize)
        return Plan(demand: demand, ahead: ahead, chunk: chunk, isSequential: isOpen)
    }

    /// Fetching ahead found no room for what begins at `offset`: it is planned anew.
    mutating func refused(at offset: Int64) { aheadEnd = min(aheadEnd, max(offset, front)) }

    private mutating func advance(to wanted: Range<Int64>) {
        guard wanted.upperBound > front else { return }
        // A skip does not count as read, but the gap that reads out of order leave does.
        bytesInARow += min(wanted.upperBound - front, 5 * Int64(wanted.count))
        readsInARow += 1
        front = wanted.upperBound
    }

    private mutating func openOrGrow(isBeginning: Bool, limit: Int64) {
        let isEvident = bytesInARow >= Self.evident && (readsInARow == 2 || isBeginning)
        guard readsInARow >= 3 || isEvident else { return }
        let trust = isBeginning ? Self.firstTrust : Self.trust
        let deserved = max(Self.firstPiece, (trust * bytesInARow).roundedDownToPowerOfTwo)
        size = min(max(size, deserved), max(limit, Self.neighbourhood))
    }

    private var chunk: Int64 {
        let smallest = min(Self.mebibyte, max(size / 4, Self.neighbourhood)).roundedDownToPowerOfTwo
        return max((size / Self.width).roundedDown(to: Self.mebibyte), smallest)
    }

    private func demand(_ wanted: Range<Int64>, objectSize: Int64, isStart: Bool) -> Range<Int64> {
        if objectSize <= Self.smallObject { return 0..<objectSize }
        if isOpen { return wanted.lowerBound..<min(wanted.upperBound.roundedUp(to: chunk), objectSize) }
        if isStart, wanted.lowerBound == 0 { return 0..<min(max(Self.firstPiece, wanted.upperBound), objectSize) }
        let unit = Int64(wanted.count) < Self.neighbourhood ? Self.neighbourhood : Self.page
        return wanted.lowerBound.roundedDown(to: unit)..<min(wanted.upperBound.roundedUp(to: unit), objectSize)
    }

    private mutating func ahead(from start: Int64, objectSize: Int64) -> Range<Int64> {
        guard isOpen else {
            aheadEnd = min(start, objectSize)
            return aheadEnd..<aheadEnd
        }
        let reach = front + size
        let end = reach >= objectSize ? objectSize : reach.roundedDown(to: chunk)
        guard end > start else { return start..<start }
        aheadEnd = end
        return start..<end
    }
}

extension Int64 {
    /// `self` and `unit` are positive.
    func roundedUp(to unit: Int64) -> Int64 { (self + unit - 1) / unit * unit }
    func roundedDown(to unit: Int64) -> Int64 { self / unit * unit }
    var roundedDownToPowerOfTwo: Int64 { self < 1 ? 0 : 1 << (63 - Int64(leadingZeroBitCount)) }
}
