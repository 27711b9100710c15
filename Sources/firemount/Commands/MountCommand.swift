import BucketFileSystem
import CloudStores
import FUSEBridge
import Glibc
import HTTPTransport
import Logging
import ObjectStore

/// `firemount mount`, in the process that serves the mount. Each step checks one thing and fails with one line; nothing
/// is mounted before all of them passed.
struct MountCommand {
    let configuration: MountConfiguration
    private let log: Logger

    /// Finds out what can be found out without the network.
    init(_ configuration: MountConfiguration, _ environment: ProcessEnvironment) throws(CommandFailure) {
        var configuration = configuration
        configuration.mount.mountPoint = try MountPoint.checked(
            configuration.mount.mountPoint, allowsNonEmpty: configuration.allowsNonEmpty)
        try configuration.checkNothingIsWrittenBelowMountPoint()
        try StagingDirectory.checkCacheDirectory(configuration.cacheDirectory, userID: environment.userID)
        self.configuration = configuration
        log = try configuration.logDestination.logger(level: configuration.logLevel, format: configuration.logFormat)
    }

    /// Mounts, serves until the mount ends, and stores what is left. Returns the exit status.
    /// - Parameter whenReady: called once the mount answers; false ends it: whoever waited for it is gone.
    func run(
        _ environment: ProcessEnvironment, whenReady: @escaping @Sendable () -> Bool
    ) throws(CommandFailure) -> Int32 {
        CoreDumps.turnOff()
        var limits = CurlTransport.Configuration()
        limits.stallLimit = configuration.timeout
        let transport = CurlTransport(configuration: limits, log: log)
        defer { transport.shutDown() }
        let credentials = try BucketCheck(configuration: configuration, transport: transport, log: log).run(environment)
        let store = configuration.store(
            transport: transport, credentials: credentials, timeLimit: configuration.timeout, log: log)
        let journals = try openJournals()
        defer {
            if !journals.own.removeIfEmpty() {
                tell("what could not be stored is kept: \(configuration.recoverCommand)")
            }
        }
        tellOfKept(in: journals.left)
        return try serve(store, journals, whenReady).isEmpty ? 0 : 1
    }

    /// The mount's own, and those that earlier mounts of the bucket have left behind.
    private struct Journals {
        var own: Journal
        var left: [Journal]
    }

    private func openJournals() throws(CommandFailure) -> Journals {
        let directory = StagingDirectory.path(in: configuration.cacheDirectory)
        let owner = JournalOwner(bucket: configuration.bucket.bucket, endpoint: configuration.endpoint.root)
        do throws(FileSystemError) {
            // A mount that changes nothing leaves them to one that may.
            let left =
                configuration.mount.isReadOnly
                ? [] : try Recovery.abandonedJournals(in: directory, of: owner, log: log)
            return Journals(own: try Journal(in: directory, for: owner), left: left)
        } catch {
            throw CommandFailure(
                "cannot use the cache directory \(configuration.cacheDirectory): \(error); "
                    + "name another with --cache-dir")
        }
    }

    /// Returns what went wrong, a line each.
    private func serve(
        _ store: any ObjectStore, _ journals: Journals, _ whenReady: @escaping @Sendable () -> Bool
    ) throws(CommandFailure) -> [String] {
        let mount = try makeMount(store, journals.own)
        var lifeline = makeLifeline()
        let end = mount.run {
            log(.info, "\(configuration.bucket.url) is mounted on \(configuration.mount.mountPoint)")
            if !whenReady() { return mount.unmount() }
            name(journals)
            mount.fileSystem.recover(journals.left)
        }
        lifeline?.stopListening()
        log(.info, "\(configuration.mount.mountPoint) is unmounted")
        var losses: [String] = []
        var waysOut: [String] = []
        if case .failed(let cause) = end { losses.append("the connection to the kernel failed: \(cause)") }
        var ending = Ending(mount.fileSystem, end, patience: configuration.timeout, log: log)
        do throws(SystemError) {
            let names = try ending.run { lifeline?.report($0) }
            let kept = kept(in: journals.own) + journals.left.flatMap(Recovery.waiting)
            if !kept.isEmpty { waysOut.append("\(configuration.recoverCommand) lists what is kept") }
            losses += Set(names + kept).sorted().map { "\($0) could not be stored" }
        } catch {
            throw CommandFailure("cannot wait for what is still to be stored: \(error)")
        }
        for loss in losses { tell(loss) }
        lifeline?.end(lost: losses + waysOut)
        return losses
    }

    /// What the bucket does not have, also where a caller was told so long ago.
    private func kept(in journal: Journal) -> [ObjectName] {
        // One that cannot be read has told so when it was written to.
        ((try? journal.entries())?.entries ?? []).map(\.object)
    }

    /// Whoever was told at a close long ago may have forgotten it.
    private func tellOfKept(in journals: [Journal]) {
        let count = Recovery.kept(in: journals)
        guard count > 0 else { return }
        tell(
            "\(MountReport.count(count, "file")) that could not be stored earlier \(count == 1 ? "is" : "are") kept: "
                + configuration.recoverCommand, .warning)
    }

    /// `firemount recover` finds the mount by it.
    private func name(_ journals: Journals) {
        do throws(FileSystemError) {
            for journal in [journals.own] + journals.left {
                try journal.setMountPoint(configuration.mount.mountPoint)
            }
        } catch {
            log(.warning, "firemount recover will not find this mount: \(error.words)")
        }
    }

    private func makeMount(_ store: any ObjectStore, _ journal: Journal) throws(CommandFailure) -> Mount {
        let fileSystem = configuration.fileSystem
        do throws(MountError) {
            return try Mount(configuration.mount, log: log) { [log] kernelCache throws(FileSystemError) in
                FileSystem(
                    store: store, configuration: fileSystem, journal: journal, kernelCache: kernelCache, log: log)
            }
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// nil: `firemount unmount` will not be able to wait for us, which is no reason to fail.
    private func makeLifeline() -> MountLifeline? {
        do {
            guard let entry = try MountTable.current().entry(at: configuration.mount.mountPoint) else { return nil }
            return try MountLifeline.taken(device: entry.device)
        } catch {
            log(.warning, "firemount unmount will not wait for this mount: \(error)")
            return nil
        }
    }

    /// In the log, and on standard error, which is the log unless an option says otherwise.
    private func tell(_ line: String, _ level: LogLevel = .error) {
        log(level, line)
        if configuration.logDestination != .standardError { printLine("firemount: \(line)", to: STDERR_FILENO) }
    }
}

extension MountConfiguration {
    /// What we write ourselves must not lie in the mount: the process would wait for itself.
    fileprivate func checkNothingIsWrittenBelowMountPoint() throws(CommandFailure) {
        guard !isPath(Files.canonicalPrefix(of: cacheDirectory), within: mount.mountPoint) else {
            throw CommandFailure(
                "the cache directory \(cacheDirectory) lies below the mount point; name another with --cache-dir")
        }
        guard case .file(let path) = logDestination else { return }
        guard !isPath(Files.canonicalPrefix(of: path), within: mount.mountPoint) else {
            throw CommandFailure("the log file \(path) lies below the mount point; name another with --log-file")
        }
    }
}
