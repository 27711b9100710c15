import Dispatch
import Locking

/// An upload or a download under way. Any thread may use it; it lives on without references from outside until it has
/// ended, unless it is paused.
///
/// Unchecked, because it has subclasses: all of its state, and theirs, is immutable or behind a lock.
public class StorageTask: @unchecked Sendable {
    struct Observer: Sendable {
        let handle: String
        let status: StorageTaskStatus
        let handler: @Sendable (StorageTaskSnapshot) -> Void
    }

    private struct State {
        var machine: TaskMachine
        var observers: [Observer] = []
        /// Told of the end, each once; whoever removes observers does not remove them.
        var endings: [@Sendable (StorageTaskSnapshot) -> Void] = []
        var bytes = TransferredBytes()
        var metadata: StorageMetadata?
        var error: StorageError?
        /// A progress event is on its way: it will tell of what comes until then.
        var isProgressPending = false
        /// Keeps the task alive while something is to come that nobody else waits for.
        var itself: StorageTask?
    }

    let reference: StorageReference
    private let state: Lock<State>

    init(_ kind: TaskMachine.Kind, reference: StorageReference, metadata: StorageMetadata? = nil) {
        self.reference = reference
        state = Lock(State(machine: TaskMachine(kind), metadata: metadata))
    }

    /// The task as it is now.
    public var snapshot: StorageTaskSnapshot { state.withLock { snapshot($0, $0.machine.status) } }

    var hasEnded: Bool { state.withLock { $0.machine.hasEnded } }

    /// What an upload is about to set, or has set.
    var metadata: StorageMetadata? { state.withLock { $0.metadata } }

    // MARK: What happens to it

    func call(_ call: TaskMachine.Call) {
        advance { state in
            if call == .cancel, !state.machine.hasEnded, state.error == nil { state.error = .cancelled }
            return state.machine.handle(call)
        }
    }

    func news(_ news: TaskMachine.News) { advance { $0.machine.handle(news) } }

    func moved(_ bytes: TransferredBytes) {
        advance { state in
            var bytes = bytes
            // An upload that has to send bytes again does not go back.
            if state.machine.kind == .upload { bytes.completed = max(bytes.completed, state.bytes.completed) }
            guard !state.machine.hasEnded, bytes != state.bytes else { return .ignored }
            state.bytes = bytes
            return state.machine.handle(.progressed)
        }
    }

    func succeed(_ metadata: StorageMetadata? = nil) {
        advance { state in
            guard !state.machine.hasEnded else { return .ignored }
            if let metadata {
                state.metadata = metadata
                state.bytes = TransferredBytes(completed: metadata.size, total: metadata.size)
            }
            return state.machine.handle(.succeeded)
        }
    }

    func fail(_ error: StorageError) {
        advance { state in
            guard !state.machine.hasEnded else { return .ignored }
            state.error = error
            return state.machine.handle(.failed)
        }
    }

    private func advance(_ change: (inout State) -> TaskMachine.Step) {
        let action = state.withLock { state in
            let step = change(&state)
            for event in step.events { dispatch(event, &state) }
            if state.machine.hasEnded, !step.events.isEmpty { dispatchEnding(&state) }
            state.itself = state.machine.needsNobody ? self : nil
            return step.action
        }
        if let action { act(action) }
    }

    /// Does what the task's life asks for. Called by whoever made it necessary, outside the lock.
    func act(_ action: TaskMachine.Action) { preconditionFailure("a task is an upload or a download") }

    // MARK: Who is told

    func add(_ observer: Observer) {
        state.withLock { state in
            let handler = observer.handler
            if state.machine.isLate(for: observer.status) {
                let snapshot = snapshot(state, observer.status)
                callbackQueue.async { handler(snapshot) }
            }
            if !state.machine.hasEnded { state.observers.append(observer) }
        }
    }

    func removeObservers(where isMeant: (Observer) -> Bool) {
        state.withLock { $0.observers.removeAll(where: isMeant) }
    }

    /// `body` is called once, on the callback queue, when the task has ended, also when it has already.
    func whenEnded(_ body: @escaping @Sendable (StorageTaskSnapshot) -> Void) {
        state.withLock { state in
            state.endings.append(body)
            if state.machine.hasEnded { dispatchEnding(&state) }
        }
    }

    private var callbackQueue: DispatchQueue { reference.storage.callbackQueue }

    /// Called under the lock, so that events reach the queue in the order in which they happened. Nothing of the
    /// program's runs here.
    private func dispatch(_ event: StorageTaskStatus, _ state: inout State) {
        let handlers = state.observers.filter { $0.status == event }.map(\.handler)
        guard !handlers.isEmpty else { return }
        guard event == .progress, !state.machine.hasEnded else {
            let snapshot = snapshot(state, event)
            return callbackQueue.async { for handler in handlers { handler(snapshot) } }
        }
        // A queue that is slower than the network gets fewer events, not a longer line of them.
        guard !state.isProgressPending else { return }
        state.isProgressPending = true
        callbackQueue.async {
            let snapshot = self.state.withLock { state in
                state.isProgressPending = false
                return self.snapshot(state, event)
            }
            for handler in handlers { handler(snapshot) }
        }
    }

    private func dispatchEnding(_ state: inout State) {
        let snapshot = snapshot(state, state.machine.status)
        let endings = state.endings
        state.endings = []
        state.observers = []
        guard !endings.isEmpty else { return }
        callbackQueue.async { for ending in endings { ending(snapshot) } }
    }

    private func snapshot(_ state: State, _ status: StorageTaskStatus) -> StorageTaskSnapshot {
        StorageTaskSnapshot(
            task: self, status: status, metadata: state.metadata, bytes: state.bytes,
            error: status == .failure ? state.error : nil)
    }
}

extension TaskMachine {
    /// Whether it goes on by itself.
    fileprivate var needsNobody: Bool {
        switch state {
        case .queueing, .running, .progress, .pausing, .completing: true
        case .unknown, .paused, .success, .failed, .cancelled: false
        }
    }
}
