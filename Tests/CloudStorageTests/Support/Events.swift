import Dispatch
import Locking

@testable import CloudStorage

/// Collects what a task tells, in order.
final class Events: Sendable {
    private let collected = Lock<[StorageTaskSnapshot]>([])

    init() {}

    convenience init(of task: StorageObservableTask) {
        self.init()
        observe(task)
    }

    /// Observes everything there is.
    @discardableResult
    func observe<Observed: StorageObservableTask>(_ task: Observed) -> Observed {
        for status in [StorageTaskStatus.resume, .progress, .pause, .success, .failure] {
            task.observe(status) { [self] snapshot in collected.withLock { $0.append(snapshot) } }
        }
        return task
    }

    var snapshots: [StorageTaskSnapshot] { collected.withLock { $0 } }

    /// Holds no task any more.
    func forget() { collected.withLock { $0 = [] } }

    /// Without the number of progress events, which depends on chance.
    var statuses: [StorageTaskStatus] {
        snapshots.map(\.status).reduce(into: []) { all, next in
            if next != .progress || all.last != .progress { all.append(next) }
        }
    }
}

extension StorageTask {
    /// Returns once the task has ended and told everybody.
    @discardableResult
    func ended() async -> StorageTaskSnapshot {
        await withCheckedContinuation { continuation in
            whenEnded { snapshot in continuation.resume(returning: snapshot) }
        }
    }

    /// Returns once all that was to be told so far is told.
    func settled() async {
        await withCheckedContinuation { continuation in
            reference.storage.callbackQueue.async { continuation.resume() }
        }
    }

    /// Returns once the task is as `isWanted` says, or has ended.
    func reached(_ isWanted: @escaping @Sendable (StorageTaskSnapshot) -> Bool) async {
        await eventually { isWanted(self.snapshot) || self.hasEnded }
    }
}

/// Returns once `isTrue`.
func eventually(_ isTrue: @Sendable () -> Bool) async {
    // Asked again after a moment, because nobody tells; a test's outcome does not depend on how long it is.
    while !isTrue() { try? await Task.sleep(for: .milliseconds(2)) }
}
