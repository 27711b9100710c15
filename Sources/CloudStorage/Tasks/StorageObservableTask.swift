import Foundation

/// A task that tells what happens to it.
///
/// Handlers are called on the storage's `callbackQueue`, in the order of the events if that queue is serial. When the
/// task ends, a last `.progress` comes, then `.success` or `.failure` (a cancelled task: `.failure` alone), and then
/// all observers are gone. An observer of what the task is doing already is called once for that.
///
/// Differs: `.resume` is also sent when the task starts, as the guides say; and a completion handler given to the call
/// that made the task is no observer, so that `removeAllObservers()` leaves it alone.
public class StorageObservableTask: StorageTask, @unchecked Sendable {
    /// - Parameter status: not `.unknown`, which nobody is ever told of.
    /// - Returns: what `removeObserver(withHandle:)` takes.
    @discardableResult
    public func observe(
        _ status: StorageTaskStatus, handler: @escaping @Sendable (StorageTaskSnapshot) -> Void
    ) -> String {
        if status == .unknown { fatalError("observe(.unknown): no task ever tells of an unknown status") }
        let handle = UUID().uuidString
        add(Observer(handle: handle, status: status, handler: handler))
        return handle
    }

    /// Calls that are on their way still come.
    public func removeObserver(withHandle handle: String) { removeObservers { $0.handle == handle } }

    public func removeAllObservers(for status: StorageTaskStatus) { removeObservers { $0.status == status } }

    public func removeAllObservers() { removeObservers { _ in true } }
}
