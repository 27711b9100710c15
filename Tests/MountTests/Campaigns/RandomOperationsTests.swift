import Foundation
import Testing

/// Random operations on a mount and on a local folder, which must stay alike, also over remounts. CI tries a few
/// thousand; `FIREMOUNT_RANDOM_OPERATIONS` says how many in all (scripts/soak), `FIREMOUNT_RANDOM_SEED` with which seed
/// they begin.
@Suite(.serialized) struct RandomOperationsTests {
    private static let count = environment("FIREMOUNT_RANDOM_OPERATIONS") ?? 3_000
    private static let firstSeed = environment("FIREMOUNT_RANDOM_SEED") ?? 1
    /// From one remount to the next. Each of them has a seed of its own, and goes on with what the one before has left.
    private static let inOneMount = 400

    private static let mounts: [(Server, [String])] = [(.local, []), (.fakeGCS, []), (.local, ["--write-back"])]

    @Test(arguments: mounts) func aMountIsLikeALocalFolder(server: Server, options: [String]) throws {
        let mounted = try MountedBucket(on: server, options: options)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Programs/random-operations.py").path
        // fake-gcs-server keeps the custom metadata that a patch removes.
        let omitted = server == .fakeGCS ? "set_attribute remove_attribute" : ""
        var (seed, rest) = (Self.firstSeed, Self.count / Self.mounts.count)
        while rest > 0 {
            let count = min(rest, Self.inOneMount)
            let printed = try folder.run(
                "mkdir -p \"$T/local\"; python3 '\(program)' \"$F\" \"$T/local\" \(seed) \(count) \(omitted)",
                limit: .seconds(3_600))
            print("\(server) \(options), \(printed)", terminator: "")
            try mounted.remount()
            try folder.run("python3 '\(program)' \"$F\" \"$T/local\" \(seed) 0")
            (seed, rest) = (seed + 1, rest - count)
        }
    }

    private static func environment(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }
}
