import Foundation
import Testing

/// Random operations on a mount and on a local folder, which must stay alike, also over remounts. CI tries a few
/// thousand; `FIREMOUNT_RANDOM_OPERATIONS` says how many in all (scripts/soak).
@Suite(.serialized) struct RandomOperationsTests {
    private static let count =
        ProcessInfo.processInfo.environment["FIREMOUNT_RANDOM_OPERATIONS"].flatMap { Int($0) }
        ?? 3_000
    private static let seeds = 1...4

    @Test(arguments: [Server.local, .fakeGCS]) func aMountIsLikeALocalFolder(server: Server) throws {
        let mounted = try MountedBucket(on: server)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Programs/random-operations.py").path
        // fake-gcs-server keeps the custom metadata that a patch removes.
        let omitted = server == .fakeGCS ? "use_attribute" : ""
        let count = Self.count / Self.seeds.count / 2
        for seed in Self.seeds {
            let printed = try folder.run(
                "mkdir -p \"$T/local\"; python3 '\(program)' \"$F\" \"$T/local\" \(seed) \(count) \(omitted)",
                limit: .seconds(3_600))
            print("\(server), \(printed)", terminator: "")
            try mounted.remount()
            try folder.run("python3 '\(program)' \"$F\" \"$T/local\" \(seed) 0")
        }
    }
}
