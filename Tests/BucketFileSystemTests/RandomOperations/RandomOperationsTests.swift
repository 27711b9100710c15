import Glibc
import Testing

/// The whole file system against a reference, over a bucket in memory. A failure prints the seed, and the fewest
/// operations of it that fail.
///
/// `FIREMOUNT_RANDOM_OPERATIONS`: how many in all, for a long run (scripts/soak); `FIREMOUNT_RANDOM_SEED`: the first of
/// eight seeds, or of `FIREMOUNT_RANDOM_SEEDS`.
@Suite struct RandomOperationsTests {
    private static let count = environment("FIREMOUNT_RANDOM_OPERATIONS") ?? 8_000
    private static let first = UInt64(environment("FIREMOUNT_RANDOM_SEED") ?? 1)
    private static let seeds = first...first + UInt64(environment("FIREMOUNT_RANDOM_SEEDS") ?? 8) - 1

    @Test(arguments: seeds) func behavesAsALocalFileSystemDoes(seed: UInt64) async throws {
        let numbers = 0..<Self.count / Self.seeds.count
        do {
            try await RandomOperations(seed: seed).run(numbers)
            print("seed \(seed): \(numbers.count) operations, as on a local file system")
        } catch let difference as RandomOperations.Difference {
            print("This failed, and is being shortened. \(difference)")
            throw await ShortestFailure().find(difference)
        }
    }

    private static func environment(_ name: String) -> Int? {
        unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
    }
}
