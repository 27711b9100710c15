import Foundation
import Testing

/// A server that does not answer keeps nobody for longer than `--timeout`, and when it is back the mount works without
/// help (Programs/bounded-calls.py).
struct BoundedTimeTests {
    private static let modes = Relay.Mode.allCases.filter { $0 != .forward }

    /// Each bad thing under one of the protocols; all of both with `FIREMOUNT_BOUNDED_TIME=all`.
    private static let trials: [(Relay.Mode, Server)] = {
        if ProcessInfo.processInfo.environment["FIREMOUNT_BOUNDED_TIME"] == "all" {
            return modes.flatMap { [($0, .local), ($0, .firebase)] }
        }
        return zip(modes, [Server.local, .firebase, .local, .firebase, .local]).map { $0 }
    }()

    /// A mount whose relay does one of the bad things, and a program that makes every call while it does.
    private struct Trial {
        let mounted: MountedBucket
        let mode: Relay.Mode
        let folder: MountedFolder

        init(_ mode: Relay.Mode, on server: Server) throws {
            self.mode = mode
            mounted = try MountedBucket(on: server, options: ["--timeout", "2s"], isRelayed: true)
            folder = try mounted.newPrefix()
        }

        /// - Parameter margin: seconds that a loaded machine may take on top.
        func command(margin: Int) throws -> String {
            [
                "python3", Programs.script("bounded-calls.py"), mounted.directory, mounted.server.url,
                RunningServer.bucketName, folder.name, try #require(mounted.relay).control, mode.rawValue, "2",
                "\(margin)",
            ].map { "'\($0)'" }.joined(separator: " ")
        }
    }

    @Test func everyCallEndsInTimeAndTheFirstAfterTheOutageSucceeds() throws {
        let trials = try Self.trials.map { try Trial($0, on: $1) }
        defer { trials.forEach { $0.mounted.tearDown() } }
        // All at once: they wait more than they work.
        let script = try trials.map { trial in
            let command = try trial.command(margin: 8)
            return "(said=$(\(command) 2>&1) || echo \"\(trial.mounted.server.kind), \(trial.mode): $said\") &\n"
        }
        let outcome = try Tool(limit: .seconds(120)).run(["bash", "-c", script.joined() + "wait"])
        #expect(outcome.output == "", "\(trials.map(\.mounted.logs).joined())")
    }
}
