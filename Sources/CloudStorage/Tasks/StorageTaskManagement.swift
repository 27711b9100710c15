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
