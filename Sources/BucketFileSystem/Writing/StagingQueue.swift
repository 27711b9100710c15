import Dispatch

/// Blocking work on the staging disk has threads of its own: the pool has one per core.
func onStagingQueue<Value: Sendable>(
    _ body: @escaping @Sendable () throws(FileSystemError) -> Value
) async throws(FileSystemError) -> Value {
    let result = await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            continuation.resume(returning: Result { () throws(FileSystemError) in try body() })
        }
    }
    return try result.get()
}
