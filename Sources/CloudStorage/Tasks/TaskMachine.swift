/// The life of a task, as a pure value: calls and news go in; which events observers get, and what is to be done,
/// comes out (docs/CLOUDSTORAGE.md, tasks). What is resuming or failing elsewhere is running or failed here at once.
struct TaskMachine: Sendable, Equatable {
    enum State: CaseIterable, Sendable {
        /// Not begun.
        case unknown
        /// About to begin.
        case queueing
        case running
        /// As `running`, and bytes have moved.
        case progress
        /// The transfer is told to stop and has not said that it did.
        case pausing
        case paused
        /// All bytes are there; what is left must not be interrupted.
        case completing
        case success
        case failed
        case cancelled
    }

    enum Kind: Sendable {
        /// Stops at once: what the server has is asked for when it goes on.
        case upload
        /// Stops when the transfer says so: until then bytes come.
        case download
    }

    enum Call: CaseIterable, Sendable {
        case enqueue, pause, resume, cancel
    }

    enum News: CaseIterable, Sendable {
        /// Its turn has come.
        case started
        case progressed
        /// The transfer has stopped as it was told.
        case stopped
        /// All bytes are there, and finishing begins.
        case arrived
        case succeeded
        case failed
    }

    enum Action: Sendable {
        /// Begin the transfer. Comes once.
        case start
        /// Stop the transfer that is under way.
        case stop
        /// Go on with the transfer that was stopped.
        case goOn
        /// Give the transfer up, if it had begun.
        case abandon
    }

    /// What a call or news leads to.
    struct Step: Sendable, Equatable {
        /// In this order.
        var events: [StorageTaskStatus] = []
        var action: Action?

        static let ignored = Step()
    }

    let kind: Kind
    private(set) var state = State.unknown
    /// Whether the transfer has begun.
    private(set) var isStarted = false

    init(_ kind: Kind) { self.kind = kind }

    /// What a snapshot says.
    var status: StorageTaskStatus {
        switch state {
        case .unknown: .unknown
        case .queueing, .running: .resume
        case .progress: .progress
        case .pausing, .paused: .pause
        case .completing, .success: .success
        case .failed, .cancelled: .failure
        }
    }

    /// Whether nothing happens any more.
    var hasEnded: Bool {
        switch state {
        case .success, .failed, .cancelled: true
        case .unknown, .queueing, .running, .progress, .pausing, .paused, .completing: false
        }
    }

    /// Whether an observer of `status` that comes only now is called for what already is.
    func isLate(for status: StorageTaskStatus) -> Bool {
        switch (status, state) {
        case (.pause, .pausing), (.pause, .paused), (.resume, .running), (.progress, .running), (.progress, .progress),
            (.success, .success), (.failure, .failed):
            true
        default: false
        }
    }

    mutating func handle(_ call: Call) -> Step {
        switch (call, state) {
        case (.enqueue, .unknown):
            state = .queueing
            return .ignored
        case (.enqueue, _): return .ignored
        case (.pause, .unknown), (.pause, .queueing): return stopped()
        case (.pause, .running), (.pause, .progress): return pause()
        case (.pause, .pausing), (.pause, .paused), (.pause, .completing): return .ignored
        case (.resume, .unknown), (.resume, .queueing), (.resume, .paused): return goOn()
        // The transfer is still there: it has not stopped yet, or was not told to.
        case (.resume, .pausing), (.resume, .progress):
            state = .running
            return Step(events: [.resume])
        case (.resume, .running), (.resume, .completing): return .ignored
        case (_, .success), (_, .failed), (_, .cancelled): return .ignored
        case (.cancel, _):
            state = .cancelled
            return Step(events: [.failure], action: isStarted ? .abandon : nil)
        }
    }

    mutating func handle(_ news: News) -> Step {
        guard !hasEnded else { return .ignored }
        switch (news, state) {
        // Differs from other platforms, which tell nobody that a task has started: the guides say that this is told.
        case (.started, .queueing): return goOn()
        case (.progressed, .running), (.progressed, .progress):
            state = .progress
            return Step(events: [.progress])
        case (.stopped, .pausing): return stopped()
        // Told to go on before it had stopped.
        case (.stopped, .running), (.stopped, .progress): return Step(action: .goOn)
        case (.arrived, _):
            state = .completing
            return .ignored
        case (.succeeded, _):
            state = .success
            return Step(events: [.progress, .success])
        case (.failed, _):
            state = .failed
            return Step(events: [.progress, .failure])
        case (.started, _), (.progressed, _), (.stopped, _): return .ignored
        }
    }

    private mutating func pause() -> Step {
        switch kind {
        case .upload:
            state = .paused
            return Step(events: [.pause], action: .stop)
        case .download:
            state = .pausing
            return Step(action: .stop)
        }
    }

    private mutating func stopped() -> Step {
        state = .paused
        return Step(events: [.pause])
    }

    private mutating func goOn() -> Step {
        defer { isStarted = true }
        state = .running
        return Step(events: [.resume], action: isStarted ? .goOn : .start)
    }
}
