public import Dispatch
public import Foundation
import Locking
import ObjectStore

/// A bucket of Cloud Storage for Firebase, as one app reaches it. Any thread may use it.
public final class Storage: Sendable {
    private struct State {
        var maxUploadRetryTime: TimeInterval = 600
        var maxDownloadRetryTime: TimeInterval = 600
        var maxOperationRetryTime: TimeInterval = 120
        var uploadChunkSizeBytes = Int64.max
        var callbackQueue: DispatchQueue
        var endpoint: String?
        /// Where it looks for the bucket is fixed from then on.
        var hasReferences = false
        var stores: [StoreRequest: any ObjectStore] = [:]
    }

    public let app: FirebaseApp
    /// Empty: references to any bucket are accepted.
    let bucket: String
    private let makeStore: StoreMaker
    private let state: Lock<State>

    init(app: FirebaseApp, bucket: String, makeStore: @escaping StoreMaker) {
        self.app = app
        self.bucket = bucket
        self.makeStore = makeStore
        state = Lock(State(callbackQueue: DispatchQueue(label: "CloudStorage callbacks of gs://\(bucket)")))
    }

    // MARK: Instances

    /// The default app's own bucket. Ends the program when there is no default app, or it names no bucket.
    public class func storage() -> Storage { storage(app: FirebaseApp.defaultApp) }

    /// Another bucket for the default app.
    /// - Parameter url: `gs://BUCKET`; anything else ends the program.
    public class func storage(url: String) -> Storage { storage(app: FirebaseApp.defaultApp, url: url) }

    /// The app's own bucket. Ends the program when it names none.
    public class func storage(app: FirebaseApp) -> Storage {
        guard let bucket = app.options.storageBucket else {
            fatalError("the app \(app.name) has no storage bucket: set storageBucket in its options")
        }
        return StorageRegistry.shared.storage(app: app, bucket: bucket)
    }

    /// Another bucket.
    /// - Parameter url: `gs://BUCKET`; anything else ends the program.
    public class func storage(app: FirebaseApp, url: String) -> Storage {
        guard url.hasPrefix("gs://"), let path = try? StoragePath(url: url), path.isRoot else {
            fatalError("\(url) is no bucket: it must be gs://BUCKET, without a path")
        }
        return StorageRegistry.shared.storage(app: app, bucket: path.bucket)
    }

    // MARK: Settings; calls that are under way keep theirs

    /// How long an upload may go without progress, in seconds.
    public var maxUploadRetryTime: TimeInterval {
        get { state.withLock { $0.maxUploadRetryTime } }
        set { state.withLock { $0.maxUploadRetryTime = newValue } }
    }

    /// How long a download may go without progress, in seconds.
    public var maxDownloadRetryTime: TimeInterval {
        get { state.withLock { $0.maxDownloadRetryTime } }
        set { state.withLock { $0.maxDownloadRetryTime = newValue } }
    }

    /// How long any other call may go without progress, in seconds.
    public var maxOperationRetryTime: TimeInterval {
        get { state.withLock { $0.maxOperationRetryTime } }
        set { state.withLock { $0.maxOperationRetryTime = newValue } }
    }

    /// At most so many bytes travel in one request of an upload; less than 256 KiB counts as 256 KiB, and what is not
    /// a multiple of it is rounded down to one. The greatest number: as much in one request as there is.
    public var uploadChunkSizeBytes: Int64 {
        get { state.withLock { $0.uploadChunkSizeBytes } }
        set { state.withLock { $0.uploadChunkSizeBytes = newValue } }
    }

    /// Where completion handlers and observers are called.
    ///
    /// Differs: a serial queue of this instance's own, not the main queue, which does not run in a command line
    /// program. Set it to `.main` where it does. On a concurrent queue events lose their order.
    public var callbackQueue: DispatchQueue {
        get { state.withLock { $0.callbackQueue } }
        set { state.withLock { $0.callbackQueue = newValue } }
    }

    /// Speaks to an emulator, or to `firemount serve`, from now on, over plain http.
    ///
    /// Ends the program when `host` is empty, `port` is none, or a reference was made before.
    ///
    /// Differs: without this call the environment's `FIREBASE_STORAGE_EMULATOR_HOST` (`HOST:PORT`) counts.
    public func useEmulator(withHost host: String, port: Int) {
        let root = FirebaseConnection.emulatorRoot(host: host, port: port)
        state.withLock { state in
            if state.hasReferences { fatalError("useEmulator: must be called before the first reference is made") }
            state.endpoint = root
            state.stores = [:]
        }
    }

    // MARK: References

    /// The bucket's root.
    public func reference() -> StorageReference { reference(to: StoragePath(bucket: bucket)) }

    public func reference(withPath path: String) -> StorageReference { reference().child(path) }

    /// A reference from one of the addresses that `reference(for:)` understands. One that is malformed, or of another
    /// bucket, ends the program.
    public func reference(forURL url: String) -> StorageReference {
        do throws(StorageError) {
            return try reference(parsing: url)
        } catch {
            fatalError("\(error)")
        }
    }

    /// A reference from `gs://BUCKET/NAME`, in which nothing is escaped, or from an object's http(s) address as
    /// `downloadURL()` gives it.
    ///
    /// Differs: `https://storage.googleapis.com/BUCKET/NAME` and `https://storage.cloud.google.com/BUCKET/NAME` are
    /// understood too, and so is an address without the version, as it stands in the guides.
    /// - Throws: `StorageError.pathError` when it is malformed, `.bucketMismatch` when it is of another bucket.
    public func reference(for url: URL) throws -> StorageReference { try reference(parsing: url.absoluteString) }

    private func reference(parsing url: String) throws(StorageError) -> StorageReference {
        let path = try StoragePath(url: url)
        guard bucket.isEmpty || path.bucket == bucket else {
            throw .bucketMismatch(
                message: "Provided bucket: `\(path.bucket)` does not match the Storage bucket of the current "
                    + "instance: `\(bucket)`")
        }
        return reference(to: path)
    }

    private func reference(to path: StoragePath) -> StorageReference {
        state.withLock { $0.hasReferences = true }
        return StorageReference(storage: self, path: path)
    }

    // MARK: Stores

    /// Root of the service, if it was said.
    var endpoint: String? { state.withLock { $0.endpoint } }

    enum Purpose { case upload, download, operation }

    /// What reaches `bucket`, with the limits that hold now.
    func store(for purpose: Purpose, bucket: String) -> any ObjectStore {
        let request = state.withLock { state in
            var request = StoreRequest(bucket: bucket, endpoint: state.endpoint, timeLimit: state.maxOperationRetryTime)
            switch purpose {
            case .upload:
                request.timeLimit = state.maxUploadRetryTime
                request.chunkSize = state.uploadChunkSizeBytes == .max ? nil : state.uploadChunkSizeBytes
            case .download: request.timeLimit = state.maxDownloadRetryTime
            case .operation: break
            }
            return request
        }
        if let known = state.withLock({ $0.stores[request] }) { return known }
        let store = makeStore(app, request)
        state.withLock { state in
            // Settings hardly ever change; whoever changes them all the time gets no more than this many.
            if state.stores.count >= Self.storeLimit { state.stores = [:] }
            state.stores[request] = store
        }
        return store
    }

    private static let storeLimit = 16

    // MARK: As an object

    /// The same instance: there is one for each app and bucket.
    public func copy() -> Storage { self }

    public func isEqual(_ object: Any?) -> Bool { (object as? Storage) == self }

    public var hash: Int { hashValue }
}

extension Storage: Hashable, CustomStringConvertible {
    /// Of the same app and the same bucket.
    public static func == (left: Storage, right: Storage) -> Bool {
        left.app === right.app && left.bucket == right.bucket
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(app))
        hasher.combine(bucket)
    }

    public var description: String { "Storage of gs://\(bucket)" }
}
