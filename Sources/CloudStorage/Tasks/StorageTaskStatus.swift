/// What happens to a task, and what a snapshot says it was doing.
public enum StorageTaskStatus: Int, Sendable {
    case unknown
    /// It started, or goes on after a pause.
    case resume
    /// Bytes have moved.
    case progress
    case pause
    case success
    case failure
}
