import BucketFileSystem
import CloudStores
import FUSEBridge
import Logging
import ObjectStore

/// A mount as it is made: the options as typed, completed from the environment and the defaults.
struct MountConfiguration: Sendable {
    var bucket: BucketSpelling
    var isForeground: Bool
    var allowsNonEmpty: Bool

    /// `firebase` or `gcs`.
    var storageProtocol: StorageProtocol
    var endpoint: ServiceEndpoint
    var credentials: CredentialChoice
    var timeout: Duration
    /// Absolute.
    var cacheDirectory: String
    /// What lists, for people, what this mount leaves behind.
    var recoverCommand: String
    /// Its staging directory is found later.
    var fileSystem: BucketFileSystem.Configuration
    /// Its mount point is absolute.
    var mount: MountOptions

    var logDestination: LogDestination
    var logLevel: LogLevel
    var logFormat: LogFormat

    init(_ request: MountRequest, _ environment: ProcessEnvironment) throws(CommandFailure) {
        let settings = request.settings
        bucket = request.bucket
        isForeground = settings.isForeground
        allowsNonEmpty = settings.allowsNonEmpty
        let storageProtocol = Self.storageProtocol(settings)
        let emulator = try Self.emulator(storageProtocol, environment)
        self.storageProtocol = storageProtocol
        endpoint = settings.endpoint ?? emulator ?? (storageProtocol == .firebase ? .firebase : .google)
        credentials = try Self.credentials(
            settings, storageProtocol, isEmulator: settings.endpoint == nil && emulator != nil, environment)
        timeout = settings.timeout ?? .seconds(60)
        cacheDirectory = try Self.cacheDirectory(settings, environment)
        recoverCommand = Self.recoverCommand(bucket, cacheDirectory, environment)
        fileSystem = Self.fileSystem(request, environment)
        mount = MountOptions(
            mountPoint: environment.absolutePath(request.mountPoint), source: bucket.url,
            isReadOnly: settings.isReadOnly,
            allowsOther: settings.allowsOther, allowsRoot: settings.allowsRoot, kernelOptions: settings.kernelFlags)
        logDestination =
            settings.logFile.map { .file(environment.absolutePath($0)) }
            ?? (settings.isForeground ? .standardError : .systemLog)
        logLevel = settings.logLevel ?? .warning
        logFormat = settings.logFormat ?? .text
    }

    private static func storageProtocol(_ settings: MountSettings) -> StorageProtocol {
        switch settings.storageProtocol {
        case .firebase: .firebase
        case .gcs: .gcs
        case .auto, nil: settings.isUser ? .firebase : .gcs
        }
    }

    /// Emulators of Firebase speak both protocols, at one address.
    private static func emulator(
        _ storageProtocol: StorageProtocol, _ environment: ProcessEnvironment
    ) throws(CommandFailure) -> ServiceEndpoint? {
        let ours = try environment.emulator("FIREBASE_STORAGE_EMULATOR_HOST")
        let google = try environment.emulator("STORAGE_EMULATOR_HOST")
        return storageProtocol == .firebase ? ours ?? google : google ?? ours
    }

    /// An emulator named by the environment is spoken to without credentials, unless an option names some.
    private static func credentials(
        _ settings: MountSettings, _ storageProtocol: StorageProtocol, isEmulator: Bool,
        _ environment: ProcessEnvironment
    ) throws(CommandFailure) -> CredentialChoice {
        if let file = settings.keyFile { return .keyFile(environment.absolutePath(file)) }
        if let file = settings.tokenFile {
            return .tokenFile(environment.absolutePath(file), storageProtocol == .firebase ? .firebase : .bearer)
        }
        if settings.isAnonymous || isEmulator && !settings.isUser { return .anonymous }
        guard storageProtocol == .firebase else { return .applicationDefault }
        return .firebaseUser(try environment.identityFile(), emulator: try environment.authEmulator())
    }

    static func cacheDirectory(
        _ settings: MountSettings, _ environment: ProcessEnvironment
    ) throws(CommandFailure) -> String {
        if let directory = settings.cacheDirectory { return environment.absolutePath(directory) }
        guard let home = environment.cacheHome else {
            throw CommandFailure(
                "there is no HOME to keep files in while they are written; name a place with --cache-dir")
        }
        return "\(home)/firemount"
    }

    /// Finds it also from a shell whose environment is another.
    private static func recoverCommand(
        _ bucket: BucketSpelling, _ cacheDirectory: String, _ environment: ProcessEnvironment
    ) -> String {
        var plain = environment
        plain.variables["XDG_CACHE_HOME"] = nil
        let isUsual = JournalSearch(MountSettings(), plain).usual.contains(cacheDirectory)
        return "firemount recover gs://\(bucket.bucket)" + (isUsual ? "" : " --cache-dir \(cacheDirectory)")
    }

    private static func fileSystem(
        _ request: MountRequest, _ environment: ProcessEnvironment
    ) -> BucketFileSystem.Configuration {
        let settings = request.settings
        var configuration = BucketFileSystem.Configuration()
        configuration.prefix = ObjectName(request.bucket.prefix)
        if let ttl = settings.metadataTTL { configuration.metadataTTL = ttl }
        if let ttl = settings.negativeTTL { configuration.negativeTTL = ttl }
        if let limit = settings.memoryLimit { configuration.memoryLimit = limit.bytes }
        configuration.stagingLimit = settings.stagingLimit?.bytes
        configuration.writesBack = settings.writesBack
        configuration.isReadOnly = settings.isReadOnly
        configuration.owner = settings.owner?.number ?? environment.userID
        configuration.group = settings.group?.number ?? environment.groupID
        // With a mask but no mode, everything that is not masked is allowed, as with other mounts.
        let mask = settings.umask?.bits
        let fileMode = settings.fileMode?.bits ?? (mask == nil ? 0o644 : 0o666)
        let directoryMode = settings.directoryMode?.bits ?? (mask == nil ? 0o755 : 0o777)
        configuration.filePermissions = fileMode & ~(mask ?? 0)
        configuration.directoryPermissions = directoryMode & ~(mask ?? 0)
        return configuration
    }
}
