import CloudStores
import HTTPTransport
import Logging
import ObjectStore

/// Whether a bucket is there and lets us in, before anything is mounted. A slip or a missing network is told within ten
/// seconds, whatever patience the mount will have later.
struct BucketCheck {
    let configuration: MountConfiguration
    let transport: any HTTPTransport
    let log: Logger

    private static let timeLimit = Duration.seconds(10)
    /// Repeated attempts stop before the limit, so that the last one's reason is told.
    private static let retryTime = Duration.seconds(5)

    /// Returns the credentials that the bucket accepted.
    func run(_ environment: ProcessEnvironment) throws(CommandFailure) -> any CredentialSource {
        let answer: Result<any CredentialSource, CommandFailure>?
        do {
            answer = try wait(atMost: Self.timeLimit) { await check(environment.variables) }
        } catch {
            throw CommandFailure("cannot wait for the bucket: \(error)")
        }
        switch answer {
        case .success(let credentials): return credentials
        case .failure(let failure): throw failure
        case nil:
            throw CommandFailure(
                "no answer from \(configuration.endpoint) about \(bucket) within "
                    + "\(Self.timeLimit.components.seconds)s; check the network, or name the service with --endpoint")
        }
    }

    private func check(_ variables: [String: String]) async -> Result<any CredentialSource, CommandFailure> {
        // What goes wrong here is told in one line at the end; the attempts before matter to nobody but the curious.
        let quietLog = Logger(level: .trace) { _, message in log(.debug, message) }
        let credentials: any CredentialSource
        do {
            credentials = try await credentialSource(
                for: configuration.credentials, environment: variables, transport: transport, log: quietLog)
        } catch {
            return .failure(CommandFailure("\(error)"))
        }
        do {
            try await configuration.store(
                transport: transport, credentials: credentials, timeLimit: Self.retryTime, log: quietLog
            ).checkBucket(listing: configuration.fileSystem.prefix)
            return .success(credentials)
        } catch let error where configuration.storageProtocol == .firebase && error.kind == .forbidden {
            // Rules often let a user into his own folder without letting him see what is beside it.
            log(.warning, "\(configuration.bucket.url) itself cannot be listed, folders in it perhaps can: \(error)")
            return .success(credentials)
        } catch {
            return .failure(failure(error))
        }
    }

    private var bucket: String { "gs://\(configuration.bucket.bucket)" }

    private func failure(_ error: StorageError) -> CommandFailure {
        switch error.kind {
        case .notFound:
            CommandFailure("there is no bucket \(bucket) at \(configuration.endpoint); check its name")
        case .forbidden:
            CommandFailure("no access to \(bucket): \(error.message); \(credentialAdvice)")
        case .unauthenticated:
            CommandFailure("cannot sign in to \(bucket): \(error.message); \(credentialAdvice)")
        case .unreachable, .timedOut:
            CommandFailure(
                "cannot reach \(configuration.endpoint): \(error.message); check the network, or name the service with "
                    + "--endpoint"
            )
        default:
            CommandFailure("cannot use \(bucket) at \(configuration.endpoint): \(error)")
        }
    }

    private var credentialAdvice: String {
        switch configuration.credentials {
        case .anonymous: "without --anonymous your Google credentials are used"
        case .keyFile(let path): "check the key file \(path) and what it may do"
        case .tokenFile(let path, _): "check the token file \(path); tokens last an hour"
        case .firebaseUser: "firemount whoami shows who is signed in; firemount login changes it"
        case .applicationDefault: "name a key with --key-file, or use --anonymous for a public bucket"
        }
    }
}

extension MountConfiguration {
    /// - Parameter timeLimit: how long a call may go on trying.
    func store(
        transport: any HTTPTransport, credentials: any CredentialSource, timeLimit: Duration, log: Logger
    ) -> any BucketStore {
        guard storageProtocol == .firebase else {
            var configuration = GoogleCloudStore.Configuration()
            configuration.timeLimit = timeLimit
            return GoogleCloudStore(
                bucket: bucket.bucket, endpoint: endpoint, transport: transport, credentials: credentials,
                configuration: configuration, log: log)
        }
        var configuration = FirebaseStore.Configuration()
        configuration.timeLimit = timeLimit
        return FirebaseStore(
            bucket: bucket.bucket, endpoint: endpoint, transport: transport, credentials: credentials,
            configuration: configuration, log: log)
    }
}
