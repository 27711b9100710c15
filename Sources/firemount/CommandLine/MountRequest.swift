import CloudStores
import Logging

/// A `mount` as typed: checked for form, nothing resolved yet.
struct MountRequest: Sendable, Equatable {
    var bucket: BucketSpelling
    var mountPoint: TypedPath
    var settings: MountSettings

    /// - Parameter words: what follows the word `mount`.
    init(parsing words: [String]) throws(UsageError) {
        var settings = MountSettings()
        let operands = try ArgumentParser(options: MountSettings.options).parse(words, into: &settings)
        try self.init(operands: operands, settings: settings)
    }

    /// - Parameter operands: the bucket, then the mount point.
    init(operands: [String], settings: MountSettings) throws(UsageError) {
        guard let first = operands.first else { throw UsageError("no bucket is named") }
        bucket = try BucketSpelling(first)
        guard operands.count > 1, let mountPoint = TypedPath(spelling: operands[1]) else {
            throw UsageError("no mount point is named")
        }
        guard !operands[1].hasPrefix("gs://") else { throw UsageError("the bucket comes first, then the mount point") }
        guard operands.count == 2 else { throw UsageError("'\(operands[2])' is one word too many") }
        self.mountPoint = mountPoint
        self.settings = settings
        try settings.checkTogether()
    }
}

/// The options of a mount as typed; nil where nothing was.
struct MountSettings: Sendable, Equatable {
    var isForeground = false
    var endpoint: ServiceEndpoint?
    var storageProtocol: StorageProtocol?

    /// Act as the signed-in Firebase user.
    var isUser = false
    var isAnonymous = false
    var keyFile: TypedPath?
    var tokenFile: TypedPath?

    var metadataTTL: Duration?
    var negativeTTL: Duration?
    var cacheDirectory: TypedPath?
    var memoryLimit: ByteCount?
    var stagingLimit: ByteCount?
    var writesBack = false
    var timeout: Duration?

    var isReadOnly = false
    var owner: OwnerNumber?
    var group: OwnerNumber?
    var fileMode: Permissions?
    var directoryMode: Permissions?
    var umask: Permissions?

    var allowsOther = false
    var allowsRoot = false
    var allowsNonEmpty = false
    /// Mount flags that the kernel knows, such as `noexec`.
    var kernelFlags: [String] = []

    var logLevel: LogLevel?
    var logFile: TypedPath?
    var logFormat: LogFormat?

    /// Options that contradict each other or cannot be used as they are.
    func checkTogether() throws(UsageError) {
        let named = [
            (isUser, "--user"), (isAnonymous, "--anonymous"), (keyFile != nil, "--key-file"),
            (tokenFile != nil, "--token-file"),
        ].filter(\.0).map(\.1)
        guard named.count < 2 else {
            throw UsageError("\(named[0]) and \(named[1]) exclude each other; keep one of them")
        }
        if isUser, storageProtocol == .gcs {
            throw UsageError("--user speaks the firebase protocol; leave --protocol gcs out")
        }
        if keyFile != nil, storageProtocol == .firebase {
            throw UsageError("--key-file is for the gcs protocol; in the firebase protocol use --user or --anonymous")
        }
        if let memoryLimit, memoryLimit.bytes < Self.leastMemoryLimit.bytes {
            throw UsageError("--memory-limit is too small for reading and writing; the least is 16MiB")
        }
        if allowsOther, allowsRoot {
            throw UsageError("--allow-other and --allow-root exclude each other; the first lets root in, too")
        }
        if timeout == .zero { throw UsageError("--timeout 0 would let no request end; name a time such as 60s") }
    }

    /// Room for a few files being read and written at once.
    static let leastMemoryLimit = ByteCount.mebibytes(16)
}
