import Dispatch

/// Steers a task. Every call is without effect once the task has ended.
public protocol StorageTaskManagement: Sendable {
    /// Begins. The library has called it when a task is handed out.
    func enqueue()
    func pause()
    func resume()
    /// Ends the task with `StorageError.cancelled`.
    func cancel()
}

extension StorageTaskManagement {
    public func pause() {}
    public func resume() {}
    public func cancel() {}
}

/// Uploads and downloads.
extension StorageTaskManagement where Self: StorageTask {
    public func enqueue() {
        call(.enqueue)
        DispatchQueue.global().async { self.news(.started) }
    }

    public func pause() { call(.pause) }
    public func resume() { call(.resume) }
    public func cancel() { call(.cancel) }
}
