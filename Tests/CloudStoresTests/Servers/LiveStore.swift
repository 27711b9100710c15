import CloudStores
import HTTPTransport
import Locking
import Logging
import ObjectStore
import TestSupport
import Testing

/// A store on a server, with a folder for one test.
struct LiveStore {
    let store: GoogleCloudStore
    let folder = "t\(UInt64.random(in: 0...UInt64.max))/"

    init(
        _ server: TestServer, bucket: String? = nil,
        _ configure: (inout GoogleCloudStore.Configuration) -> Void = { _ in }
    ) throws {
        let root = try #require(server.root)
        try self.init(root: root, bucket: bucket ?? server.bucket, configure)
    }

    init(
        root: String, bucket: String = "demo", _ configure: (inout GoogleCloudStore.Configuration) -> Void = { _ in }
    ) throws {
        var configuration = GoogleCloudStore.Configuration()
        // Generous, as the tests all run at once.
        configuration.timeLimit = .seconds(120)
        configure(&configuration)
        store = GoogleCloudStore(
            bucket: bucket, endpoint: try ServiceEndpoint(parsing: root), transport: CurlTransport(log: .silent),
            credentials: FixedCredentials(.anonymous), configuration: configuration, log: .silent)
    }

    func name(_ text: String) -> ObjectName { ObjectName(folder + text) }

    @discardableResult
    func put(_ name: ObjectName, _ text: String) async throws(StorageError) -> ObjectMetadata {
        try await put(name, Array(text.utf8))
    }

    @discardableResult
    func put(_ name: ObjectName, _ bytes: [UInt8]) async throws(StorageError) -> ObjectMetadata {
        try await store.insert(
            Upload(
                name: name, headers: ObjectHeaders(contentType: "text/plain"), precondition: .none,
                source: BytesSource(bytes)))
    }

    func read(_ request: ReadRequest) async -> CollectedRead.Outcome {
        let receiver = CollectedRead()
        store.read(request, into: receiver)
        return await receiver.outcome()
    }
}

/// One authorization for ever.
struct FixedCredentials: CredentialSource {
    let authorization: Authorization

    init(_ authorization: Authorization) { self.authorization = authorization }

    func cachedAuthorization() -> Authorization? { authorization }

    func authorization(replacing rejected: Authorization?) async throws(StorageError) -> Authorization { authorization }
}
