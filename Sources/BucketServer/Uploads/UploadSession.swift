import Locking

/// One resumable upload: what it is to become and what has come so far. Any thread may call it.
///
/// Its lock is held while a piece is written: pieces of one upload take turns, and no other upload waits for them.
final class UploadSession: Sendable {
    enum Progress: Sendable {
        case receiving(stored: Int64)
        /// The answer of the request that completed it.
        case done(ObjectRecord)
        case ended(Ending)
    }

    /// An end without an object to show.
    enum Ending: Sendable, Codable {
        case cancelled
        /// All bytes had come, and then it was refused.
        case refused(status: Int, message: String)
        /// It became an object, which is gone or has been replaced since.
        case replaced
    }

    private enum Phase {
        case receiving(StagedContent)
        case done(ObjectRecord)
        case ended(Ending)
    }

    private struct State {
        var phase: Phase
        /// Only the newest request may write: an older one belongs to a connection that its client gave up.
        var turn = 0
    }

    let id: String
    let plan: UploadPlan
    /// `X-Upload-Content-Length`.
    let announcedSize: Int64?
    private let state: Lock<State>

    init(id: String, plan: UploadPlan, announcedSize: Int64?, staged: sending StagedContent) {
        self.id = id
        self.plan = plan
        self.announcedSize = announcedSize
        state = Lock(State(phase: .receiving(staged)))
    }

    init(id: String, plan: UploadPlan, announcedSize: Int64?, done: ObjectRecord) {
        self.id = id
        self.plan = plan
        self.announcedSize = announcedSize
        state = Lock(State(phase: .done(done)))
    }

    init(id: String, plan: UploadPlan, announcedSize: Int64?, ended: Ending) {
        self.id = id
        self.plan = plan
        self.announcedSize = announcedSize
        state = Lock(State(phase: .ended(ended)))
    }

    func progress() -> Progress {
        state.withLock { state in
            switch state.phase {
            case .receiving(let staged): .receiving(stored: staged.size)
            case .done(let object): .done(object)
            case .ended(let ending): .ended(ending)
            }
        }
    }

    /// A new request wants to write; earlier ones no longer may.
    func takeTurn() -> Int {
        state.withLock { state in
            if case .receiving(let staged) = state.phase { staged.dropPartialGranule() }
            state.turn += 1
            return state.turn
        }
    }

    /// Writes bytes that belong at `offset`. Those stored before are left out, those beyond a gap are not taken.
    func append(_ bytes: RawSpan, at offset: Int64, turn: Int) throws(APIError) {
        try state.withLock { (state) throws(APIError) in
            guard case .receiving(let staged) = state.phase, state.turn == turn else { throw .superseded }
            let known = staged.size - offset
            guard known >= 0, known < bytes.byteCount else { return }
            try staged.append(bytes.extracting(droppingFirst: Int(known)))
        }
    }

    /// A chunk that is not the last has ended, well or not: only whole granules of it are kept.
    func endChunk(turn: Int) {
        state.withLock { state in
            guard case .receiving(let staged) = state.phase, state.turn == turn else { return }
            staged.dropPartialGranule()
        }
    }

    /// Makes the bytes an object, once.
    func finish(turn: Int, _ commit: (StagedContent) throws(APIError) -> ObjectRecord) throws(APIError) -> ObjectRecord
    {
        try state.withLock { (state) throws(APIError) in
            guard case .receiving(let staged) = state.phase, state.turn == turn else { throw .superseded }
            let object = try commit(staged)
            state.phase = .done(object)
            return object
        }
    }

    func end(_ ending: Ending) {
        state.withLock { state in
            if case .receiving(let staged) = state.phase { staged.discard() }
            state.phase = .ended(ending)
        }
    }
}

extension APIError {
    fileprivate static let superseded = APIError(
        status: 503, reason: "backendError", message: "Another request has taken this upload over.")
}
