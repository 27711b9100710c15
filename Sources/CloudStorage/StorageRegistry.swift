import Foundation
import Locking
import ObjectStore

/// What a store is made for.
struct StoreRequest: Hashable, Sendable {
    var bucket: String
    /// Root of the service; nil: as the environment says, else Google's.
    var endpoint: String?
    /// In seconds.
    var timeLimit: TimeInterval
    /// Bytes; nil: no limit.
    var chunkSize: Int64?
}

/// Makes what reaches a bucket as whoever is signed in at an app.
typealias StoreMaker = @Sendable (FirebaseApp, StoreRequest) -> any ObjectStore

/// The one `Storage` there is for each app and bucket.
final class StorageRegistry: Sendable {
    private struct Key: Hashable {
        let app: ObjectIdentifier
        let bucket: String
    }

    static let shared = StorageRegistry()

    private let storages = Lock<[Key: Storage]>([:])

    func storage(app: FirebaseApp, bucket: String) -> Storage {
        storages.withLock { storages in
            let key = Key(app: ObjectIdentifier(app), bucket: bucket)
            if let known = storages[key] { return known }
            let storage = Storage(app: app, bucket: bucket, makeStore: FirebaseConnection.makeStore)
            storages[key] = storage
            return storage
        }
    }

    /// The app is gone: its instances go with their last users.
    func forget(_ app: FirebaseApp) {
        storages.withLock { storages in storages = storages.filter { $0.key.app != ObjectIdentifier(app) } }
    }
}
