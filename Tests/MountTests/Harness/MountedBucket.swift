import Foundation
import Synchronization
import Testing

/// A server with a bucket, and the bucket mounted. Both end with `tearDown`, and with the test process at the latest.
final class MountedBucket: Sendable {
    let server: RunningServer
    let bucket: OtherClient
    private let folder: TemporaryFolder
    private let ownsServer: Bool
    private let options: [String]
    private let source: String
    /// What the mount speaks to instead of the server; ends with it.
    let relay: Relay?
    private let mount: Mutex<Service?> = Mutex(nil)
    private let folderCount = Atomic(0)

    /// The mount point.
    var directory: String { "\(folder.path)/mount" }

    /// Unless its options name another.
    var cacheDirectory: String { "\(folder.path)/cache" }

    init(
        on kind: Server, options: [String] = MountedBucket.quickOptions, prefix: String = "",
        isHierarchical: Bool = false, isRelayed: Bool = false
    ) throws {
        folder = try TemporaryFolder("\(kind)")
        server = try RunningServer(kind, folder: folder.path, isHierarchical: isHierarchical)
        relay = isRelayed ? try Relay(to: server) : nil
        ownsServer = true
        bucket = OtherClient(server: server.url, bucket: RunningServer.bucketName)
        self.options = options
        source = "gs://\(RunningServer.bucketName)\(prefix)"
        _ = try folder.subfolder("mount")
        do { try start() } catch {
            tearDown()
            throw error
        }
    }

    /// The same bucket, mounted once more elsewhere: a second host, or what the first one sees after a remount.
    init(again other: MountedBucket, options: [String]? = nil, prefix: String = "") throws {
        folder = try TemporaryFolder("again")
        server = other.server
        relay = nil
        ownsServer = false
        bucket = other.bucket
        self.options = options ?? other.options
        source = "gs://\(RunningServer.bucketName)\(prefix)"
        _ = try folder.subfolder("mount")
        do { try start() } catch {
            tearDown()
            throw error
        }
    }

    /// Times to live that a test can wait for.
    static let quickOptions = ["--metadata-ttl", "2s", "--negative-ttl", "1s"]

    /// A name that another client makes shows at once, though it was missed a moment ago.
    static let watchfulOptions = ["--metadata-ttl", "2s", "--negative-ttl", "0s"]

    private func start() throws {
        let command =
            [
                Programs.firemount, "mount", source, directory, "--foreground", "--anonymous", "--endpoint",
                relay?.url ?? server.url, "--cache-dir", try folder.subfolder("cache"),
            ] + server.kind.mountOptions + options
        // What a killed mount leaves is for the next one to clear, and for `tearDown`.
        let service = try Service(
            command, folder: folder.path, name: "mount",
            afterwards: "[ $status -eq 137 ] || umount -l '\(directory)' 2>/dev/null")
        mount.withLock { $0 = service }
        let outside = deviceNumber(of: folder.path)
        try service.wait {
            let device = deviceNumber(of: directory)
            return device != nil && device != outside
        }
    }

    /// nil: there is no answer, as below a mount whose process is gone.
    private func deviceNumber(of path: String) -> Int? {
        try? FileManager.default.attributesOfItem(atPath: path)[.systemNumber] as? Int
    }

    /// Ends the mount as a service manager would. Answers its exit status.
    @discardableResult
    func unmount() -> Int32 { mount.withLock { $0 }?.stop() ?? 0 }

    /// Ends the mount and starts it again, with nothing remembered but its cache directory.
    func remount() throws {
        unmount()
        try start()
    }

    var process: Service? { mount.withLock { $0 } }

    func tearDown() {
        unmount()
        relay?.stop()
        if ownsServer { server.stop() }
        _ = try? Tool().run(["umount", "-l", directory])
        folder.remove()
    }

    /// What the programs said, for the report of a failure.
    var logs: String {
        let said = mount.withLock { $0?.log } ?? ""
        return "— mount —\n\(said.suffix(3_000))\n— server —\n\(server.log.suffix(2_000))"
    }

    /// A new folder in the mount for one test.
    func newFolder() throws -> MountedFolder {
        let number = folderCount.add(1, ordering: .relaxed).newValue
        let folder = try MountedFolder(name: "t\(number)", mounted: self)
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        return folder
    }

    /// A folder's name of its own for one test that nothing was made for yet.
    func newPrefix() throws -> MountedFolder {
        let number = folderCount.add(1, ordering: .relaxed).newValue
        return try MountedFolder(name: "p\(number)", mounted: self)
    }
}
