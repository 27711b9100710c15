package import HTTPTransport
import Locking
package import Logging
package import ObjectStore

/// A bucket over the Google Cloud Storage JSON API (PROTOCOL section 4). One request, one file. Any thread may call it.
package final class GoogleCloudStore: BucketStore {
    package struct Configuration: Sendable {
        /// The longest a call may take, retries included, without progress.
        package var timeLimit: Duration = .seconds(60)
        /// Uploads up to this many bytes travel in one request, larger ones in a resumable session.
        package var wholeUploadLimit: Int64 = 8 << 20
        /// Bytes a request of a resumable session; nil: all in one. A whole number of 256 KiB.
        package var chunkSize: Int64?
        /// The same for an upload whose source is still growing: a request each 64 MiB costs less than 2 % where a
        /// connection carries 60 MB/s and a request costs 20 ms.
        package var streamChunkSize: Int64 = 64 << 20
        /// The project that pays for requests, where the bucket asks for one.
        package var userProject: String?

        package init() {}
    }

    package let bucket: String
    let routes: Routes
    let configuration: Configuration
    let caller: ServiceCaller
    let endpoint: ServiceEndpoint
    /// Whether the service is known not to have `moveTo`.
    private let lacksMove = Lock(false)
    /// Whether the bucket is hierarchical; nil: not asked yet.
    private let folders = Lock<Bool?>(nil)

    package convenience init(
        bucket: String, endpoint: ServiceEndpoint, transport: any HTTPTransport, credentials: any CredentialSource,
        configuration: Configuration, log: Logger
    ) {
        self.init(
            bucket: bucket, endpoint: endpoint, transport: transport, credentials: credentials,
            configuration: configuration, clock: .system, log: log)
    }

    init(
        bucket: String, endpoint: ServiceEndpoint, transport: any HTTPTransport, credentials: any CredentialSource,
        configuration: Configuration, clock: RetryClock, log: Logger
    ) {
        self.bucket = bucket
        self.endpoint = endpoint
        self.configuration = configuration
        routes = Routes(endpoint, bucket: bucket)
        caller = ServiceCaller(
            transport: transport, credentials: credentials, policy: RetryPolicy(timeLimit: configuration.timeLimit),
            clock: clock, userProject: configuration.userProject, log: log)
    }

    package var abilities: StoreAbilities {
        StoreAbilities(listsMetadata: true, checksPreconditions: true, composes: true, streams: true)
    }

    /// Firebase answers at an address of its own, emulators at the one they have.
    package func downloadURL(of object: ObjectMetadata) -> String? {
        DownloadURL.make(of: object, in: bucket, at: endpoint == .google ? .firebase : endpoint)
    }

    var hasFolders: Bool? {
        get { folders.withLock { $0 } }
        set { folders.withLock { $0 = newValue } }
    }

    var movesByCopying: Bool {
        get { lacksMove.withLock { $0 } }
        set { lacksMove.withLock { $0 = newValue } }
    }
}

extension Precondition {
    /// How a change under this precondition may be repeated (PROTOCOL 4.11).
    var safety: RetryPolicy.Safety { object == nil ? .onceOnly : .repeatable }

    /// Whether `generation` can have come about by a change made under this precondition: the change makes a new one.
    func allowsResult(_ generation: ObjectGeneration) -> Bool {
        switch object {
        case .mustNotExist: true
        case .mustBe(let old): generation > old
        case nil: false
        }
    }
}
