/// A call of `ObjectStore`, as tests count, hold and fail it.
package enum StoreOperation: String, Hashable, Sendable, CaseIterable {
    case list, metadata, read, insert, patch, copy, move, compose, delete
}
