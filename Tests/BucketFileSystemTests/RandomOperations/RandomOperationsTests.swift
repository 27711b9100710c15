import Glibc
import Testing

/// The whole file system against a reference, over a bucket in memory. A failure prints seed and operations.
@Suite struct RandomOperationsTests {
    /// `FIREMOUNT_RANDOM_OPERATIONS`: how many in all, for a long run (scripts/soak).
    private static let count =
        unsafe getenv("FIREMOUNT_RANDOM_OPERATIONS").flatMap { unsafe Int(String(cString: $0)) }
        ?? 16_000
    private static let seeds = 1...UInt64(8)

    @Test(arguments: seeds) func behavesAsALocalFileSystemDoes(seed: UInt64) async throws {
        try await RandomOperations(seed: seed).run(Self.count / Self.seeds.count)
    }
}
