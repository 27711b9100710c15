package import HTTPTransport
package import Logging
package import ObjectStore

/// A bucket over the Cloud Storage for Firebase protocol, `v0` (PROTOCOL section 1), in which Security Rules decide.
/// One request, one file. Any thread may call it.
///
/// Lists tell names alone. The protocol has no preconditions: the store asks for an object's metadata just before each
/// change and compares, so that a change by somebody else in between, within one request's time, is not noticed.
package final class FirebaseStore: BucketStore {
    package struct Configuration: Sendable {
        /// The longest a call may take, retries included, without progress.
        package var timeLimit: Duration = .seconds(60)
        /// Uploads up to this many bytes travel in one request, larger ones in a resumable session (PROTOCOL 1.11).
        package var wholeUploadLimit: Int64 = 256 << 10
        /// Bytes a request of a resumable session; nil: all in one. Rounded down to what the server takes.
        package var chunkSize: Int64? = 8 << 20
        /// The app's id, which requests tell for information only.
        package var googleAppID: String?

        package init() {}
    }

    package let bucket: String
    let endpoint: ServiceEndpoint
    let routes: FirebaseRoutes
    let configuration: Configuration
    let caller: ServiceCaller
    /// Bounds the memory of copies through this client.
    let copySlots: CopySlots

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
        routes = FirebaseRoutes(endpoint, bucket: bucket)
        caller = ServiceCaller(
            transport: transport, credentials: credentials, policy: Self.policy(configuration.timeLimit), clock: clock,
            userProject: nil, introduction: Self.introduction(configuration), log: log)
        copySlots = CopySlots()
    }

    private init(_ other: FirebaseStore, timeLimit: Duration) {
        bucket = other.bucket
        endpoint = other.endpoint
        routes = other.routes
        var configuration = other.configuration
        configuration.timeLimit = timeLimit
        self.configuration = configuration
        let caller = other.caller
        self.caller = ServiceCaller(
            transport: caller.transport, credentials: caller.credentials, policy: Self.policy(timeLimit),
            clock: caller.clock, userProject: nil, introduction: caller.introduction, log: caller.log)
        copySlots = other.copySlots
    }

    /// The same store with another patience.
    package func with(timeLimit: Duration) -> FirebaseStore { FirebaseStore(self, timeLimit: timeLimit) }

    /// Pauses up to 64 s, as the official clients make (PROTOCOL 1.13).
    private static func policy(_ timeLimit: Duration) -> RetryPolicy {
        RetryPolicy(timeLimit: timeLimit, longestPause: .seconds(64))
    }

    /// PROTOCOL 1.2: for information only.
    private static func introduction(_ configuration: Configuration) -> [(name: String, value: String)] {
        let version = (name: "X-Firebase-Storage-Version", value: "swift-linux/0.1")
        return [version] + (configuration.googleAppID.map { [("X-Firebase-GMPID", HeaderText.clean($0))] } ?? [])
    }

    package var abilities: StoreAbilities {
        StoreAbilities(listsMetadata: false, checksPreconditions: false, composes: false, streams: true)
    }

    package func compose(_ composition: Composition) async throws(StorageError) -> ObjectMetadata {
        throw StorageError(
            .unsupported, operation: "compose", object: composition.destination,
            message: "the Firebase protocol cannot join objects")
    }

    /// `perform`, with errors as this protocol means them.
    func perform(_ call: Call) async -> ServiceCaller.Outcome { await caller.perform(call).inFirebaseWords }

    /// `perform` for a request that carries a whole upload.
    func perform(_ call: Call, for upload: Upload) async -> ServiceCaller.Outcome {
        await caller.perform(call, for: upload).inFirebaseWords
    }

    /// `perform`, for calls where ambiguity makes no difference.
    func answer(to call: Call) async throws(StorageError) -> HTTPAnswer { try await perform(call).result.get() }

    /// Reads an answer that is one object.
    func object(
        _ answer: HTTPAnswer, _ operation: String, _ name: ObjectName
    ) throws(StorageError) -> ObjectMetadata {
        var object = try ObjectResource.read(answer, operation, name)
        guard object.name == name else {
            throw StorageError(
                .malformedAnswer, operation: operation, object: name, httpStatus: answer.status,
                message: "the answer is about another object, \(object.name)")
        }
        // What this protocol says of an object that has none (PROTOCOL 1.4).
        if object.headers.contentEncoding == "identity" { object.headers.contentEncoding = nil }
        return object
    }
}

extension ServiceCaller.Outcome {
    /// This protocol has no preconditions: a 412 says that the bucket is not linked to Firebase, so that the service
    /// may not touch it (PROTOCOL 1.12).
    fileprivate var inFirebaseWords: ServiceCaller.Outcome {
        guard case .failure(let error) = result, error.httpStatus == 412 else { return self }
        let refusal = StorageError(
            .forbidden, operation: error.operation, object: error.object, httpStatus: 412, message: error.message)
        return ServiceCaller.Outcome(result: .failure(refusal), isAmbiguous: isAmbiguous)
    }
}
