import BucketFileSystem
import CloudStores
import HTTPTransport
import Logging
import ObjectStore

/// The bucket that a journal is of, reached as a mount would reach it, with what the journal knows of it where no
/// option says otherwise.
struct JournalBucket {
    let owner: JournalOwner
    let configuration: MountConfiguration
    private let environment: ProcessEnvironment

    /// - Parameter typed: the options of the command.
    init(
        _ owner: JournalOwner, _ typed: MountSettings, _ environment: ProcessEnvironment
    ) throws(CommandFailure) {
        self.owner = owner
        self.environment = environment
        let settings = try Self.completed(typed, owner, environment)
        let mount: MountRequest
        do throws(UsageError) {
            mount = try MountRequest(operands: ["gs://\(owner.bucket)", "/"], settings: settings)
        } catch {
            throw CommandFailure(error.message)
        }
        configuration = try MountConfiguration(mount, environment)
    }

    private static func completed(
        _ typed: MountSettings, _ owner: JournalOwner, _ environment: ProcessEnvironment
    ) throws(CommandFailure) -> MountSettings {
        guard typed.endpoint == nil else { return typed }
        let endpoint: ServiceEndpoint
        do { endpoint = try ServiceEndpoint(parsing: owner.endpoint) } catch {
            throw CommandFailure("the journal names no service: \(error)")
        }
        var settings = typed
        settings.endpoint = endpoint
        if endpoint == .firebase, settings.storageProtocol == nil { settings.storageProtocol = .firebase }
        let namesCredentials =
            settings.isUser || settings.isAnonymous || settings.keyFile != nil || settings.tokenFile != nil
            || settings.storageProtocol == .firebase || environment["GOOGLE_APPLICATION_CREDENTIALS"] != nil
        if !namesCredentials { settings.isAnonymous = try isEmulator(endpoint, environment) }
        return settings
    }

    /// Nothing that runs on this machine without encryption asks for Google's credentials.
    private static func isEmulator(
        _ endpoint: ServiceEndpoint, _ environment: ProcessEnvironment
    ) throws(CommandFailure) -> Bool {
        if RequestURL.isPlainHTTP(endpoint.root), RequestURL.isLoopback(endpoint.root) == true { return true }
        return try endpoint == environment.emulator("STORAGE_EMULATOR_HOST")
    }

    /// - Parameter body: what is done with the bucket.
    func withStore(
        log: Logger, _ body: (any ObjectStore) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var limits = CurlTransport.Configuration()
        limits.stallLimit = configuration.timeout
        let transport = CurlTransport(configuration: limits, log: log)
        defer { transport.shutDown() }
        let credentials: any CredentialSource
        do throws(CommandFailure) {
            credentials = try BucketCheck(configuration: configuration, transport: transport, log: log).run(environment)
        } catch {
            if error.message.contains(configuration.endpoint.root) { throw error }
            throw CommandFailure("gs://\(owner.bucket) is at \(configuration.endpoint): \(error.message)")
        }
        try body(
            configuration.store(
                transport: transport, credentials: credentials, timeLimit: configuration.timeout, log: log))
    }
}
