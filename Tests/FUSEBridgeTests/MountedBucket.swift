import BucketFileSystem
import Foundation
import Glibc
import Locking
import TestSupport

@testable import FUSEBridge

/// A bucket in memory, mounted for real. Programs that use it run as children: a test that waited for its own mount
/// would hold a thread that the mount's answers need.
final class MountedBucket: Sendable {
    struct Ended: Equatable {
        /// The exit status, or a signal's number plus 128 as a shell says it.
        var status: Int32
        var output: String
    }

    let store: InMemoryStore
    let mountPoint: String
    let log: CollectedLog
    private let mount: Mount
    private let end = Lock<(MountEnd?, CheckedContinuation<MountEnd, Never>?)>((nil, nil))
    private let directory = temporaryDirectory()
    private let outputs = temporaryDirectory()

    /// - Parameter mountPoint: nil: a directory of its own.
    fileprivate init(on mountPoint: String?) throws {
        let (store, log) = (InMemoryStore(), CollectedLog())
        (self.store, self.log) = (store, log)
        let staging = directory.path + "/staging"
        self.mountPoint = mountPoint ?? directory.path + "/mnt"
        for path in [staging, self.mountPoint] where path != mountPoint {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        let journal = try Journal(in: staging, for: JournalOwner(bucket: "test", endpoint: "http://test"))
        mount = try Mount(MountOptions(mountPoint: self.mountPoint, source: "gs://test"), log: log.logger) {
            kernelCache in
            FileSystem(
                store: store, configuration: Configuration(), journal: journal, kernelCache: kernelCache,
                log: log.logger)
        }
    }

    /// Returns once the mount answers.
    fileprivate func serve() async {
        await withCheckedContinuation { ready in startThread { [self] in serve { ready.resume() } } }
    }

    /// Takes it out of the tree without waiting for who uses it.
    fileprivate func abandon() { mount.unmount() }

    private func serve(_ ready: @escaping @Sendable () -> Void) {
        let result = mount.run(ready: ready)
        let waiting = end.withLock { end in
            end.0 = result
            return end.1
        }
        waiting?.resume(returning: result)
    }

    /// Unmounts, and answers how the mount ended.
    @discardableResult
    func unmount() async -> MountEnd {
        mount.unmount()
        return await withCheckedContinuation { continuation in
            let result = end.withLock { end in
                if end.0 == nil { end.1 = continuation }
                return end.0
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    /// Starts `script` in a shell at the mount point.
    func start(_ script: String) throws -> RunningProgram {
        try RunningProgram(script, in: mountPoint, output: outputs.path + "/" + UUID().uuidString)
    }

    /// Runs `script` in a shell at the mount point.
    func run(_ script: String) async throws -> Ended { try await start(script).wait() }
}

/// Mounts, runs `body` once the mount answers, and unmounts. Fails loudly without root and /dev/fuse.
func withMountedBucket(on mountPoint: String? = nil, _ body: (MountedBucket) async throws -> Void) async throws {
    let bucket = try MountedBucket(on: mountPoint)
    await bucket.serve()
    defer { bucket.abandon() }
    try await body(bucket)
}

/// A shell that runs a script, with what it says on both of its outputs.
final class RunningProgram: Sendable {
    private let process: Process
    private let output: String

    init(_ script: String, in directory: String, output: String) throws {
        self.output = output
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "cd \"$1\" && shift && eval \"$1\"", "sh", directory, script]
        let url = URL(fileURLWithPath: output)
        try Data().write(to: url)
        let file = try FileHandle(forWritingTo: url)
        process.standardOutput = file
        process.standardError = file
        // Threads of the concurrency pool block signals, and a child would inherit that.
        var (none, mask) = (sigset_t(), sigset_t())
        unsafe pthread_sigmask(SIG_SETMASK, &none, &mask)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &mask, nil) }
        try process.run()
    }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    func wait() async -> MountedBucket.Ended {
        await withCheckedContinuation { continuation in
            startThread { [self] in
                process.waitUntilExit()
                let status = process.terminationStatus + (process.terminationReason == .exit ? 0 : 128)
                let text = FileManager.default.contents(atPath: output).map { String(decoding: $0, as: UTF8.self) }
                continuation.resume(returning: MountedBucket.Ended(status: status, output: text ?? ""))
            }
        }
    }
}
