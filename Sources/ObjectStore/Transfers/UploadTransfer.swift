/// The course of one resumable upload, as a pure value: events go in, the next action comes out. It knows neither
/// HTTP nor clocks; who drives it sends, waits between tries, and decides when to give up for good.
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
        /// The server says that the object is complete.
        case completed
        /// A status query completed the object too early: some servers end a session when asked how it stands.
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
        case waiting
        case discarding
        case ended
    }

    package let size: Int64
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

    package init(size: Int64, chunkSize: Int64? = nil, sessionLimit: Int = 4) {
        precondition(size >= 0 && sessionLimit > 0, "size \(size), sessions \(sessionLimit)")
        self.size = size
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
            confirmed = size
            state = .ended
            return .finish
        case (.sending, .sessionLost), (.querying, .sessionLost), (.querying, .completedWrongly): return startOver()
        case (.starting, .paused), (.sending, .paused), (.querying, .paused):
            state = .waiting
            return .wait
        case (.waiting, .resumed): return goOnAfterPause()
        case (.starting, .cancelled), (.sending, .cancelled), (.querying, .cancelled), (.waiting, .cancelled):
            return cancel()
        case (.discarding, .discarded): return end(.cancelled)
        case (.starting, .stored), (.starting, .completed), (.starting, .completedWrongly), (.starting, .sessionLost),
            (.sending, .opened), (.sending, .completedWrongly), (.querying, .opened), (.waiting, _), (.discarding, _),
            (.ended, _), (_, .resumed), (_, .discarded):
            return end(.outOfTurn)
        }
    }

    private mutating func goOn(from offset: Int64) -> Action {
        guard (0...sentEnd).contains(offset) else { return end(.storedBeyondSent(offset)) }
        confirmed = offset
        return sendOn()
    }

    private mutating func sendOn() -> Action {
        let rest = size - confirmed
        let count = min(rest, chunkSize.map { max(granularity, $0 / granularity * granularity) } ?? rest)
        sentEnd = max(sentEnd, confirmed + count)
        state = .sending
        return .send(offset: confirmed, count: count, isLast: count == rest)
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
