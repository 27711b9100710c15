import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// What becomes of a file, and of who has it open, when what was fetched of it is found to be damaged.
struct DamagedFilesTests {
    private static let text = String(repeating: "0123456789abcdef", count: 3 << 16)
    private static let count = text.utf8.count

    private func open(_ bench: Bench, _ entry: Entry) async throws -> OpenedFile {
        try await bench.files.open(entry.inode, OpenMode(reads: true, writes: false, truncates: false))
    }

    private func isCorrupted(_ body: () async throws -> String) async -> Bool {
        guard case .storage(let error) = await failure(of: body) else { return false }
        return error.kind == .corrupted
    }

    @Test func theNextOpenReadsAfreshAndForgetsTheKernelsPages() async throws {
        let bench = Bench(objects: [("f", Self.text)])
        let entry = try await bench.find("f")
        bench.damaging.damages(byteAt: 2_000_000)
        let file = try await open(bench, entry)
        #expect(file.keepsKernelPages)
        #expect(await isCorrupted { try await bench.read(file.handle, count: Self.count) })
        #expect(bench.kernel.forgotten == [entry.inode])
        bench.files.release(file.handle)
        let again = try await open(bench, entry)
        #expect(!again.keepsKernelPages)
        #expect(try await bench.read(again.handle, count: Self.count) == Self.text)
        bench.files.release(again.handle)
    }

    @Test func whoHadItOpenGetsNoMoreOfIt() async throws {
        let bench = Bench(objects: [("f", Self.text)])
        let entry = try await bench.find("f")
        let reader = try await open(bench, entry)
        _ = try await bench.read(reader.handle, count: 4_096)
        let bystander = try await open(bench, entry)
        bench.damaging.damages(byteAt: 2_000_000)
        #expect(await isCorrupted { try await bench.read(reader.handle, count: Self.count) })
        let later = try await open(bench, entry)
        #expect(try await bench.read(later.handle, count: Self.count) == Self.text)
        for file in [reader, bystander] {
            #expect(await isCorrupted { try await bench.read(file.handle, at: 10, count: 10) })
        }
        for file in [reader, bystander, later] { bench.files.release(file.handle) }
    }

    @Test func anEditOfADamagedFileKeepsWhatWasWritten() async throws {
        let bench = Bench(objects: [("f", Self.text)])
        let entry = try await bench.find("f")
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, "XY", at: 0)
        bench.damaging.damages(byteAt: 2_000_000)
        let reader = try await open(bench, entry)
        #expect(await isCorrupted { try await bench.read(reader.handle, at: 16, count: Self.count) })
        bench.files.release(reader.handle)
        #expect(try await bench.read(handle, at: 0, count: 2) == "XY")
        try await bench.close(handle)
        #expect(bench.stored("f") == "XY" + Self.text.dropFirst(2))
        #expect(try await bench.read("f").hasPrefix("XY23"))
    }
}
