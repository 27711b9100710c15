import Locking
import Logging
import ObjectStore

/// The bytes of one object generation: extents in memory, requests in flight. One per inode generation, shared by its
/// handles; callable from any thread. `ReadEngine.swift` tells how reads are answered.
final class ObjectContent: Sendable {
    let engine: ReadEngine
    let size: Int64
    private let state: Lock<ContentState>

    /// - Parameter crc32c: of all bytes, as the bucket says; nil: it does not, and what is read is not checked.
    init(engine: ReadEngine, name: ObjectName, objectGeneration: ObjectGeneration, size: Int64, crc32c: UInt32?) {
        precondition(size >= 0, "size \(size)")
        self.engine = engine
        self.size = size
        state = Lock(
            ContentState(
                size: size, crc32c: crc32c, budget: engine.budget,
                identity: ObjectIdentity(name: name, objectGeneration: objectGeneration)))
    }

    deinit { discard() }

    var objectGeneration: ObjectGeneration { state.withLock { $0.identity.objectGeneration } }

    /// Where the server has the object now.
    var location: (name: ObjectName, objectGeneration: ObjectGeneration) {
        let identity = state.withLock { $0.identity }
        return (identity.name, identity.objectGeneration)
    }

    /// The object was renamed on the server, by us: the same bytes have a new name and generation. Requests under way
    /// that fail because of it are sent again there.
    func relocate(to name: ObjectName, objectGeneration: ObjectGeneration) {
        state.withLock { $0.identity = ObjectIdentity(name: name, objectGeneration: objectGeneration) }
    }

    /// Forgets all bytes. Requests that nobody waits for are cancelled; reads that wait are still answered, and new
    /// ones fetch anew.
    func discard() {
        let (extents, unwanted) = state.withLock { ($0.dropExtents(), $0.takeUnwantedFlights { _ in true }) }
        withExtendedLifetime(extents) {}
        for flight in unwanted { flight.transfer?.cancel() }
    }

    /// What was fetched is not what the bucket has: every read fails, and a new content must fetch anew.
    var isDamaged: Bool { state.withLock { $0.damage != nil } }

    /// Requests are under way.
    var isFetching: Bool { state.withLock { !$0.flights.isEmpty } }

    // MARK: Opening

    /// All bytes of a small object, or the first piece of a large one, are in memory or come from a request whose
    /// generation is known to be ours: an open needs no request to have them.
    var holdsBeginning: Bool { state.withLock { $0.isComing(beginning) } }

    private var beginning: Range<Int64> { 0..<min(size, ReadAheadWindow.firstPiece) }

    /// Starts to fetch the beginning from whichever generation is live, and returns when the answer's head is there and
    /// says that it is ours. So a cold small file costs one request, whose head validates what is known of it.
    /// Shared with others that are under way; does nothing if `holdsBeginning`, so ask for that first.
    ///
    /// Throws `.generationChanged` if another generation is live, of which nothing is kept; `.cancelled` if the task is
    /// (the request goes on); else what the store says.
    func validateAndPrefetch() async throws(StorageError) {
        let open = PendingOpen()
        if !join(open, for: .demand) { engine.budget.wait { self.join(open, for: .queuedDemand) } }
        try await open.value()
    }

    /// Joins a request, or starts one and joins it. False if there was no room.
    private func join(_ open: PendingOpen, for purpose: MemoryBudget.Purpose) -> Bool {
        var opening = state.withLock { $0.join(open, beginning) }
        while case .missing(let gap) = opening {
            guard let blocks = engine.budget.allocate(Int64(gap.count), for: purpose) else { return false }
            let launch: ContentState.Launch?
            (launch, opening) = state.withLock { state in
                // In one step, so that no answer is missed.
                (state.add(gap, blocks, to: self, isPinned: false, for: nil), state.join(open, beginning))
            }
            if let launch { send(launch) }
        }
        if case .done = opening { open.resume(.success(())) }
        return true
    }

    // MARK: Reading

    /// Reads up to `count` bytes; fewer only at the end of the object, or beyond `ReadEngine.longestRead`.
    ///
    /// `completion` is called exactly once: before this returns when the bytes are in memory, else from the thread that
    /// received them, as soon as those wanted are there. Its errors are the store's: `.generationChanged` or
    /// `.notFound` if the generation is gone.
    func read(at offset: Int64, count: Int, cursor: ReadCursor, completion: @escaping ReadCompletion) {
        precondition(offset >= 0 && count >= 0, "read of \(count) at \(offset)")
        guard offset < size, count > 0 else { return completion(.success(ReadBytes(pieces: []))) }
        let wanted = offset..<offset + min(size - offset, Int64(min(count, engine.longestRead)))
        let advice = cursor.advice(for: wanted, in: self)
        let read = PendingRead(wanted: wanted, advice: advice, completion: completion)
        var ahead = advice.plan.ahead
        switch answer(read) {
        case .here(let bytes): completion(.success(bytes))
        case .joined: break
        case .damaged(let error): return completion(.failure(error))
        case .missing:
            ahead = advice.plan.aheadAfterMiss
            if !fetch(read, for: .demand) { engine.budget.wait { self.fetch(read, for: .queuedDemand) } }
        }
        if let abandoned = advice.abandoned { cancelReadAhead(for: abandoned) }
        if !ahead.isEmpty { fetchAhead(ahead, chunk: advice.plan.chunk, for: advice.way, of: cursor) }
    }

    private func answer(_ read: PendingRead) -> ContentState.Answer { state.withLock { $0.answer(read) } }

    /// Requests what is missing, and joins. False if there was no room; then nothing was done.
    private func fetch(_ read: PendingRead, for purpose: MemoryBudget.Purpose) -> Bool {
        var refused: ContentState.Missing?
        var answer = answer(read)
        while case .missing(let missing) = answer {
            // Making room may have dropped neighbours and so widened the gaps: once more, until it helps no more.
            guard missing != refused else { return false }
            refused = missing
            guard let pieces = allocate(missing.generous, purpose) ?? allocate(missing.gaps, purpose) else {
                answer = self.answer(read)
                continue
            }
            refused = nil
            let launches: [ContentState.Launch]
            (launches, answer) = state.withLock { state in
                // In one step, so that no answer is missed.
                (state.add(pieces, to: self), state.answer(read))
            }
            for launch in launches { send(launch) }
        }
        switch answer {
        case .here(let bytes): read.completion(.success(bytes))
        case .damaged(let error): read.completion(.failure(error))
        case .joined, .missing: break
        }
        return true
    }

    private func allocate(_ ranges: [Range<Int64>], _ purpose: MemoryBudget.Purpose) -> [(Range<Int64>, [Block])]? {
        engine.budget.allocate(ranges.map { Int64($0.count) }, for: purpose).map { Array(zip(ranges, $0)) }
    }

    // MARK: Fetching ahead

    private func fetchAhead(_ range: Range<Int64>, chunk: Int64, for way: ReadCursor.WayID, of cursor: ReadCursor) {
        var next = range.lowerBound
        while next < range.upperBound {
            let piece = next..<min((next + 1).roundedUp(to: chunk), range.upperBound)
            let gaps = state.withLock { $0.gapsToShare(in: piece, way) }
            for gap in gaps {
                guard let blocks = engine.budget.allocate(Int64(gap.count), for: .readAhead) else {
                    return cursor.refused(way, at: gap.lowerBound)
                }
                let launch = state.withLock { $0.add(gap, blocks, to: self, isPinned: true, for: way) }
                if let launch { send(launch) }
            }
            next = piece.upperBound
        }
    }

    /// Stops what was started for a way that nobody follows any more, except what others wait for.
    func cancelReadAhead(for way: ReadCursor.WayID) {
        let unwanted = state.withLock { $0.abandonFlights(of: way) }
        for flight in unwanted { flight.transfer?.cancel() }
    }

    // MARK: Requests

    private func send(_ launch: ContentState.Launch) {
        let fetch = launch.fetch
        let request = ReadRequest(
            name: fetch.identity.name, objectGeneration: fetch.isPinned ? fetch.identity.objectGeneration : nil,
            offset: fetch.offset, count: launch.count)
        let transfer = engine.store.read(request, into: fetch)
        let isWanted = state.withLock { $0.started(fetch, transfer) }
        if !isWanted { transfer.cancel() }
    }

    func received(_ head: ReadHead, by fetch: Fetch) {
        let (opens, failure) = state.withLock { $0.received(head, by: fetch) }
        for open in opens { open.resume(.success(())) }
        if let failure { report(failure) }
    }

    /// Copies into the flight's blocks, then says so: nobody reads past what was said.
    func received(_ bytes: UnsafeRawBufferPointer, by fetch: Fetch) {
        guard let room = state.withLock({ $0.room(for: bytes.count, of: fetch) }) else { return }
        unsafe room.fill(from: bytes)
        let pieces = unsafe room.pieces(with: bytes)
        act(on: state.withLock { $0.received(bytes.count, pieces, by: fetch) })
    }

    func completed(_ result: Result<Void, StorageError>, by fetch: Fetch) {
        act(on: state.withLock { $0.completed(result, by: fetch) })
    }

    private func act(on completion: ContentState.Completion) {
        switch completion {
        case .nothing: break
        case .again(let launch): send(launch)
        case .failed(let failure): report(failure)
        case .finished(let reads): for read in reads { read.completion(.success(read.bytes)) }
        }
    }

    private func report(_ failure: ContentState.Failure) {
        failure.transfer?.cancel()
        for read in failure.reads { read.completion(.failure(failure.error)) }
        for open in failure.opens { open.resume(.failure(failure.error)) }
        if failure.reads.isEmpty, failure.opens.isEmpty {
            engine.log(.debug, "read-ahead failed, nobody waited: \(failure.error)")
        }
        if isDamaged { discard() }
    }
}

extension ObjectContent: ExtentOwner {
    func giveUp(_ resident: MemoryBudget.Resident, _ ticket: MemoryBudget.Ticket) {
        let block = state.withLock { $0.giveUp(resident, ticket) }
        withExtendedLifetime(block) {}
    }
}

/// A read on its way to an answer.
struct PendingRead: Sendable {
    var wanted: Range<Int64>
    var advice: ReadCursor.Advice
    var completion: ReadCompletion
}
