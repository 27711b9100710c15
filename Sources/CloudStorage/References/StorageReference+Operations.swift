import ObjectStore

/// How every call that is no task is made.
extension StorageReference {
    /// Asks the store, and says in this module's words why it failed.
    func perform<Value: Sendable>(
        _ operation: (any ObjectStore) async throws(ObjectStore::StorageError) -> Value
    ) async throws(StorageError) -> Value {
        do throws(ObjectStore::StorageError) {
            return try await operation(storage.store(for: .operation, bucket: bucket))
        } catch {
            throw StorageError(error, at: location)
        }
    }

    /// The completion form of an async call: `completion` is called once, on the callback queue.
    func complete<Value: Sendable>(
        _ completion: @escaping @Sendable (Result<Value, any Error>) -> Void,
        _ operation: @escaping @Sendable () async throws(StorageError) -> Value
    ) {
        Task {
            var result: Result<Value, any Error>
            do throws(StorageError) {
                result = .success(try await operation())
            } catch {
                result = .failure(error)
            }
            storage.callbackQueue.async { [result] in completion(result) }
        }
    }
}

/// A result as the two arguments of the older completion handlers.
func split<Value: Sendable>(
    _ completion: @escaping @Sendable (Value?, (any Error)?) -> Void
) -> @Sendable (Result<Value, any Error>) -> Void {
    { result in
        switch result {
        case .success(let value): completion(value, nil)
        case .failure(let error): completion(nil, error)
        }
    }
}
