import Foundation

extension StorageTaskSnapshot {
    /// How a task that has ended did.
    func result<Value>(_ value: () -> Value?) -> Result<Value, any Error> {
        if let error { return .failure(error) }
        guard let value = value() else {
            return .failure(StorageError.internalError(message: "the task ended without a result"))
        }
        return .success(value)
    }
}

extension StorageTaskManagement where Self: StorageObservableTask {
    /// Starts the task and waits for its end; the async forms are made of this. Cancelling the calling task cancels it.
    func outcome<Value: Sendable>(
        _ onProgress: (@Sendable (Progress?) -> Void)?, _ value: @escaping @Sendable (StorageTaskSnapshot) -> Value?
    ) async throws -> Value {
        if let onProgress { observe(.progress) { onProgress($0.progress) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                whenEnded { snapshot in continuation.resume(with: snapshot.result { value(snapshot) }) }
                enqueue()
            }
        } onCancel: {
            cancel()
        }
    }
}
