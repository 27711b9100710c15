import ObjectStore

/// The life of flights: added, started, received, completed.
extension ContentState {
    /// What is left to do for a flight that failed, after the lock.
    struct Failure {
        var reads: [Waiting] = []
        var opens: [PendingOpen] = []
        var transfer: (any StoreTransfer)?
        var error: StorageError
    }

    enum Completion {
        case nothing
        /// To be sent in place of the one that failed.
        case again(Launch)
        case failed(Failure)
        /// Reads that have all they want now.
        case finished([Waiting])
    }

    /// A request to send: `count` bytes from the fetch's offset on.
    struct Launch {
        var fetch: Fetch
        var count: Int64
    }

    // MARK: Before the answer

    /// Adds a flight for `range`; nil if that is no longer a gap as a whole.
    mutating func add(
        _ range: Range<Int64>, _ blocks: [Block], to content: ObjectContent, isPinned: Bool, for way: ReadCursor.WayID?
    ) -> Launch? {
        guard gaps(in: range) == [range] else { return nil }
        let fetch = Fetch(content: content, identity: identity, isPinned: isPinned, offset: range.lowerBound)
        let flight = Flight(
            range: range, blocks: blocks, content: WeakExtentOwner(content), way: way, fetch: fetch,
            receivedEnd: range.lowerBound, isValidated: isPinned, readEnd: range.lowerBound,
            isWholeObject: range == 0..<size && size <= ReadAheadWindow.firstPiece)
        flights.insert(flight, at: flights.firstIndex(endingAfter: range.lowerBound))
        return Launch(fetch: fetch, count: Int64(range.count))
    }

    /// Adds demands, pinned; what another thread has filled meanwhile is left.
    mutating func add(_ pieces: [(Range<Int64>, [Block])], to content: ObjectContent) -> [Launch] {
        pieces.compactMap { range, blocks in add(range, blocks, to: content, isPinned: true, for: nil) }
    }

    /// False if nobody wants it any more.
    mutating func started(_ fetch: Fetch, _ transfer: any StoreTransfer) -> Bool {
        guard let index = index(of: fetch) else { return false }
        flights[index].transfer = transfer
        return true
    }

    /// How an open gets on.
    enum Opening {
        /// Nothing of the beginning is missing.
        case done
        /// It hears when a flight under way knows its generation.
        case joined
        case missing(Range<Int64>)
    }

    /// Lets an open wait for the first flight in `beginning` whose generation is not known, if there is one.
    mutating func join(_ open: PendingOpen, _ beginning: Range<Int64>) -> Opening {
        if let index = flights.firstIndex(where: { !$0.isValidated && $0.range.overlaps(beginning) }) {
            flights[index].opens.append(open)
            return .joined
        }
        return gaps(in: beginning).first.map { .missing($0) } ?? .done
    }

    /// Gaps in `range`; flights of others there are from now on of interest to several.
    mutating func gapsToShare(in range: Range<Int64>, _ way: ReadCursor.WayID) -> [Range<Int64>] {
        var index = flights.firstIndex(endingAfter: range.lowerBound)
        while index < flights.count, flights[index].range.lowerBound < range.upperBound {
            if flights[index].way != way { flights[index].way = nil }
            index += 1
        }
        return gaps(in: range)
    }

    /// Takes out flights that satisfy `condition` and that nobody waits for: to be cancelled after the lock.
    mutating func takeUnwantedFlights(where condition: (Flight) -> Bool) -> [Flight] {
        let unwanted = flights.filter { !$0.isWanted && condition($0) }
        flights = flights.filter { $0.isWanted || !condition($0) }
        // What they brought may have been read.
        for flight in unwanted { noteUnfinished(of: flight) }
        return unwanted
    }

    /// The same for what was started for a way that nobody follows any more. What it brought is kept.
    mutating func abandonFlights(of way: ReadCursor.WayID) -> [Flight] {
        let abandoned = takeUnwantedFlights { $0.way == way }
        for flight in abandoned where !flight.isWholeObject { keep(flight) }
        return abandoned
    }

    // MARK: The answer

    /// - Returns: opens to resume; and the failure if the answer is not what was asked for.
    mutating func received(_ head: ReadHead, by fetch: Fetch) -> (opens: [PendingOpen], failure: Failure?) {
        guard let index = index(of: fetch) else { return ([], nil) }
        let wanted = flights[index].range.upperBound - flights[index].receivedEnd
        let isOurs =
            head.objectGeneration == fetch.identity.objectGeneration
            || head.objectGeneration == identity.objectGeneration
        guard isOurs else {
            return ([], fail(index, .generationChanged, "generation \(head.objectGeneration) is live"))
        }
        guard head.objectSize == size, head.count == wanted else {
            return (
                [], fail(index, .corrupted, "\(head.count) of \(head.objectSize) bytes instead of \(wanted) of \(size)")
            )
        }
        flights[index].isValidated = true
        defer { flights[index].opens = [] }
        return (flights[index].opens, nil)
    }

    /// Where the next `count` bytes go; nil if nobody wants them.
    func room(for count: Int, of fetch: Fetch) -> Room? {
        guard let index = index(of: fetch),
            Int64(count) <= flights[index].range.upperBound - flights[index].receivedEnd
        else { return nil }
        return flights[index].room(for: count, cellSize: checksums.expected == nil ? nil : checksums.cellSize)
    }

    /// `count` more bytes are in their place. If they are the last of the object, they are handed out only when all
    /// that came is right.
    /// - Parameter pieces: those of the bytes' room, with their checksums.
    mutating func received(_ count: Int, _ pieces: [PieceChecksums.Piece], by fetch: Fetch) -> Completion {
        guard let index = index(of: fetch) else { return .nothing }
        let finished = flights[index].receive(count, pieces, cellSize: checksums.cellSize)
        guard !flights[index].isWholeObject else {
            flights[index].wholeChecksum = finished.last?.checksum
            return .nothing
        }
        note(finished)
        if let damage { return .failed(fail(index, damage)) }
        return .finished(finishReads(of: index, before: flights[index].receivedEnd))
    }

    private mutating func finishReads(of index: Int, before end: Int64) -> [Waiting] {
        var finished: [Waiting] = []
        for reader in flights[index].readers where reader.end <= end {
            guard var read = waiting[reader.waiting] else { continue }
            read.flights -= 1
            waiting[reader.waiting] = read.flights == 0 ? nil : read
            if read.flights == 0 { finished.append(read) }
        }
        flights[index].readers.removeAll { $0.end <= end }
        return finished
    }

    mutating func completed(_ result: Result<Void, StorageError>, by fetch: Fetch) -> Completion {
        guard let index = index(of: fetch) else { return .nothing }
        switch result {
        case .success:
            guard flights[index].receivedEnd == flights[index].range.upperBound, flights[index].isValidated else {
                return .failed(fail(index, .corrupted, "ended at \(flights[index].receivedEnd)"))
            }
            if let damage { return .failed(fail(index, damage)) }
            if let error = wholeDamage(of: flights[index]) { return failed(error, index, fetch) }
            let finished = finishReads(of: index, before: flights[index].range.upperBound)
            keep(flights.remove(at: index))
            return .finished(finished)
        case .failure(let error):
            return failed(error, index, fetch)
        }
    }

    private mutating func failed(_ error: StorageError, _ index: Int, _ fetch: Fetch) -> Completion {
        // It was asked for under a name or generation that we changed meanwhile.
        if fetch.identity != identity, error.kind == .notFound || error.kind == .generationChanged {
            return .again(restart(index, in: fetch.content))
        }
        if error.kind == .corrupted, flights[index].isWholeObject, !flights[index].isSecondAttempt {
            flights[index].startAgain()
            return .again(restart(index, in: fetch.content))
        }
        return .failed(fail(index, error))
    }

    /// What is wrong with a whole object. The store has held it against what the answer's head said, if it did.
    private func wholeDamage(of flight: Flight) -> StorageError? {
        guard let found = flight.wholeChecksum, let expected = checksums.expected else { return nil }
        return PieceChecksums.difference(found, expected).map {
            StorageError(.corrupted, operation: "read", object: identity.name, message: $0)
        }
    }

    /// Goes on with a flight under the object's present name, from the first byte that is missing.
    private mutating func restart(_ index: Int, in content: ObjectContent) -> Launch {
        let flight = flights[index]
        let fetch = Fetch(content: content, identity: identity, isPinned: true, offset: flight.receivedEnd)
        flights[index].fetch = fetch
        flights[index].transfer = nil
        return Launch(fetch: fetch, count: flight.range.upperBound - flight.receivedEnd)
    }

    private mutating func fail(_ index: Int, _ kind: StorageError.Kind, _ message: String) -> Failure {
        let error = StorageError(kind, operation: "read", object: flights[index].fetch.identity.name, message: message)
        return fail(index, error)
    }

    /// Ends a flight. What it brought is kept, except of a whole object, which nobody has checked, and of damaged ones.
    private mutating func fail(_ index: Int, _ error: StorageError) -> Failure {
        let flight = flights.remove(at: index)
        noteUnfinished(of: flight)
        if !flight.isWholeObject, damage == nil { keep(flight) }
        let reads = flight.readers.compactMap { waiting.removeValue(forKey: $0.waiting) }
        return Failure(reads: reads, opens: flight.opens, transfer: flight.transfer, error: error)
    }

    private func index(of fetch: Fetch) -> Int? {
        guard let index = flights.index(containing: fetch.offset), flights[index].fetch === fetch else { return nil }
        return index
    }
}
