/// The course of one resumable upload, as a pure value: events go in, the next action comes out. It knows neither
/// HTTP nor clocks; who drives it sends, waits between tries, and decides when to give up for good.
///
/// The source may still be growing: then its size is not known yet, and only what is there is sent.
///
/// Invariant: it never asks to send from an offset the server has not confirmed, so that no gap can come about.
package struct UploadTransfer: Sendable, Equatable {
    package enum Action: Sendable, Equatable {
        /// Open a session.
        case start
        /// Send these bytes; after them the object is complete when `isLast`.
        case send(offset: Int64, count: Int64, isLast: Bool)
        /// Ask the server how much it has.
        case query
        /// Wait until the source has more than `offset` bytes, or ends.
        case awaitGrowth(beyond: Int64)
        /// Send nothing until the upload is resumed or cancelled.
        case wait
        /// End the session at the server.
        case discard
        /// The server has the whole object; its answer is at hand.
        case finish
        case fail(Failure)
    }

    package enum Event: Sendable, Equatable {
        case opened
        /// The server says that it holds the bytes before `offset` and waits for more.
        case stored(upTo: Int64)
        /// The source has grown; its first `size` bytes may be sent.
        case grew(to: Int64)
        /// The source is whole.
        case ended(size: Int64)
        /// The server says that the object is complete.
        case completed
        /// The server made another object of it: some end a session when asked how it stands, and bytes may be
        /// damaged on the way.
        case completedWrongly
        /// The server knows nothing of the session.
        case sessionLost
        /// No answer, or one that says "later".
        case interrupted
        /// Somebody wants the upload to rest; a request under way was dropped.
        case paused
        case resumed
        /// Somebody wants the upload to end; a request under way was dropped.
        case cancelled
        /// The session has ended at the server, or is left to it.
        case discarded
    }

    package enum Failure: Sendable, Equatable {
        /// Too many sessions were lost or ended in a wrong object.
        case tooManySessions
        /// The server claims bytes that were never sent.
        case storedBeyondSent(Int64)
        /// The event makes no sense in this state.
        case outOfTurn
        case cancelled
    }

    private enum State: Sendable, Equatable {
        case starting
        case sending
        case querying
        case growing
        case waiting
        case discarding
        case ended
    }

    /// nil: the source is still growing.
    package private(set) var size: Int64?
    /// How many of the source's bytes are there.
    private var available: Int64
    /// At most this many bytes a request, if `granularity` allows; nil: all at once.
    package let chunkSize: Int64?
    /// All requests but the last one carry a whole number of so many bytes; the server of a session may ask for others.
    package var granularity = Self.granularity
    /// What the server is known to hold.
    package private(set) var confirmed: Int64 = 0
    /// The server holds a session of ours.
    private var hasSession = false
    /// How many sessions may be opened.
    package let sessionLimit: Int
    private var sessionsOpened = 0
    /// The end of all that was ever sent in this session.
    private var sentEnd: Int64 = 0
    private var state = State.starting

    /// 256 KiB (PROTOCOL: resumable, chunk size).
    package static let granularity: Int64 = 262_144

    /// - Parameter size: nil: the source is still growing.
    package init(size: Int64?, chunkSize: Int64? = nil, sessionLimit: Int = 4) {
        precondition((size ?? 0) >= 0 && sessionLimit > 0, "size \(size ?? 0), sessions \(sessionLimit)")
        self.size = size
        available = size ?? 0
        self.chunkSize = chunkSize
        self.sessionLimit = sessionLimit
    }

    /// The action to begin with.
    package var firstAction: Action { .start }

    package mutating func next(after event: Event) -> Action {
        switch (state, event) {
        case (.starting, .opened):
            sessionsOpened += 1
            hasSession = true
            confirmed = 0
            sentEnd = 0
            return sendOn()
        case (.starting, .interrupted): return .start
        case (.sending, .stored(let offset)), (.querying, .stored(let offset)): return goOn(from: offset)
        case (.sending, .interrupted), (.querying, .interrupted):
            state = .querying
            return .query
        case (.sending, .completed), (.querying, .completed):
            guard let size else { return end(.outOfTurn) }
            confirmed = size
            state = .ended
            return .finish
        case (.sending, .sessionLost), (.querying, .sessionLost), (.sending, .completedWrongly),
            (.querying, .completedWrongly):
            return startOver()
        case (.growing, .grew(let end)) where end >= available:
            available = end
            return sendOn()
        case (.growing, .ended(let size)) where size >= confirmed:
            self.size = size
            available = size
            return sendOn()
        case (.growing, .interrupted): return sendOn()
        case (.starting, .paused), (.sending, .paused), (.querying, .paused), (.growing, .paused):
            state = .waiting
            return .wait
        case (.waiting, .resumed): return goOnAfterPause()
        case (.starting, .cancelled), (.sending, .cancelled), (.querying, .cancelled), (.growing, .cancelled),
            (.waiting, .cancelled):
            return cancel()
        case (.discarding, .discarded): return end(.cancelled)
        case (.starting, .stored), (.starting, .completed), (.starting, .completedWrongly), (.starting, .sessionLost),
            (.sending, .opened), (.querying, .opened), (.growing, _), (.waiting, _), (.discarding, _), (.ended, _),
            (_, .resumed), (_, .discarded), (_, .grew), (_, .ended):
            return end(.outOfTurn)
        }
    }

    private mutating func goOn(from offset: Int64) -> Action {
        guard (0...sentEnd).contains(offset) else { return end(.storedBeyondSent(offset)) }
        confirmed = offset
        return sendOn()
    }

    private mutating func sendOn() -> Action {
        let rest = available - confirmed
        var count = min(rest, chunkSize.map { max(granularity, $0 / granularity * granularity) } ?? rest)
        if size == nil {
            // Only the last bytes may be less than a granule.
            count -= count % granularity
            guard count > 0 else {
                state = .growing
                return .awaitGrowth(beyond: confirmed)
            }
        }
        sentEnd = max(sentEnd, confirmed + count)
        state = .sending
        return .send(offset: confirmed, count: count, isLast: size != nil && count == rest)
    }

    /// What was under way when the pause came is unknown: the server is asked.
    private mutating func goOnAfterPause() -> Action {
        state = hasSession ? .querying : .starting
        return hasSession ? .query : .start
    }

    private mutating func cancel() -> Action {
        guard hasSession else { return end(.cancelled) }
        state = .discarding
        return .discard
    }

    private mutating func startOver() -> Action {
        hasSession = false
        guard sessionsOpened < sessionLimit else { return end(.tooManySessions) }
        state = .starting
        return .start
    }

    private mutating func end(_ failure: Failure) -> Action {
        state = .ended
        return .fail(failure)
    }
}
