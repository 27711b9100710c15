import CloudStorage
import Foundation
import Glibc
import TestSupport

/// `firemount serve` in a process of its own, with an empty bucket.
final class GuideServer: Sendable {
    static let bucket = "demo.appspot.com"

    let port: Int
    private let folder: TemporaryDirectory
    private let server: Program
    /// The server's guardian waits for its end: it comes when this process dies, however it does.
    private let lifeline: Int32

    private static let guarding = """
        exec 3<&0 </dev/null; "$@" 3<&- & child=$!; read -r -u 3; kill -KILL $child
        """

    init() throws {
        folder = temporaryDirectory()
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw Program.Failure(description: "socketpair: error \(errno)")
        }
        lifeline = ends[1]
        server = try Program(
            [
                "bash", "-c", Self.guarding, "guardian", Program.path("firemount"), "serve", "--data",
                "\(folder.path)/data", "--port", "0", "--bucket", Self.bucket,
            ], environment: ProcessInfo.processInfo.environment, outputFile: "\(folder.path)/log", input: ends[0])
        close(ends[0])
        port = try Self.announcedPort(server)
    }

    deinit {
        close(lifeline)
        _ = try? server.reap()
    }

    private static func announcedPort(_ server: Program) throws -> Int {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            if let match = server.output.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)/), let port = Int(match.1) {
                return port
            }
            // The server says when it is ready, in a file that nobody else writes to.
            usleep(10_000)
        }
        throw Program.Failure(description: "the server does not start: \(server.output)")
    }

    /// The bucket, for an app of its own.
    func storage(bucket: String = GuideServer.bucket) -> Storage {
        let options = FirebaseOptions(googleAppID: "1:2:ios:3", gcmSenderID: "2")
        options.storageBucket = bucket
        let name = UUID().uuidString
        FirebaseApp.configure(name: name, options: options)
        let storage = Storage.storage(app: FirebaseApp.app(name: name)!)
        storage.useEmulator(withHost: "127.0.0.1", port: port)
        return storage
    }

    /// What a program has to know to find it.
    var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment["FIREBASE_STORAGE_BUCKET"] = Self.bucket
        environment["FIREBASE_STORAGE_EMULATOR_HOST"] = "127.0.0.1:\(port)"
        return environment
    }
}

/// How a task ended. Not for cancelled ones, of which latecomers are not told.
func end(of task: StorageObservableTask) async -> StorageTaskSnapshot {
    await withCheckedContinuation { continuation in
        task.observe(.success) { continuation.resume(returning: $0) }
        task.observe(.failure) { continuation.resume(returning: $0) }
    }
}

/// Returns once `isTrue`.
func eventually(_ isTrue: () async throws -> Bool) async rethrows {
    // Asked again after a moment, because nobody tells; a test's outcome does not depend on how long it is.
    while try await !isTrue() { try? await Task.sleep(for: .milliseconds(5)) }
}

/// An image's bytes, which stand for one in the guides' snippets.
let imageBytes = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

/// For snippets that say `path/to/image`: makes that file, in a current directory of their own. Changes the process,
/// so only exit tests do it.
func inFolderOfImage(_ body: (GuideServer) async throws -> Void) async throws {
    let folder = temporaryDirectory()
    try FileManager.default.createDirectory(atPath: "\(folder.path)/path/to", withIntermediateDirectories: true)
    try imageBytes.write(to: URL(fileURLWithPath: "\(folder.path)/path/to/image"))
    guard FileManager.default.changeCurrentDirectoryPath(folder.path) else {
        throw Program.Failure(description: "no \(folder.path)")
    }
    let server = try GuideServer()
    try await body(server)
    withExtendedLifetime(server) {}
    withExtendedLifetime(folder) {}
}
