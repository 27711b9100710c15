import Foundation
import Testing

/// The limit of memory holds whatever the load.
struct MemoryTests {
    /// 10,000 with `FIREMOUNT_SMALL_FILES=10000`.
    private static let count =
        ProcessInfo.processInfo.environment["FIREMOUNT_SMALL_FILES"].flatMap { Int($0) } ?? 1_600

    @Test(arguments: [[], ["--write-back"]])
    func manySmallFilesByManyProcessesStayWithinTheLimit(options: [String]) throws {
        let mounted = try MountedBucket(on: .local, options: ["--memory-limit", "64MiB"] + options)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        let count = options.isEmpty ? Self.count : Self.count / 2
        try folder.run(
            """
            python3 - "$F" \(count) <<'PYTHON'
            import multiprocessing, os, sys

            def write(process):
                folder = f"{sys.argv[1]}/{process}"
                os.mkdir(folder)
                for number in range(int(sys.argv[2]) // 16):
                    with open(f"{folder}/{number}", "wb", buffering=0) as file:
                        file.write(os.urandom(1_000 + number % 8_000))

            with multiprocessing.Pool(16) as pool: pool.map(write, range(16))
            PYTHON
            """)
        let peak = try #require(mounted.process?.peakResidentBytes)
        #expect(peak <= (64 + 64) << 20, "\(peak >> 20) MiB for \(count) files")
        #expect(mounted.unmount() == 0)
        let names = try folder.bucket.list(folder.object("")).filter { !$0.hasSuffix("/") }
        #expect(names.count == count / 16 * 16)
    }
}
