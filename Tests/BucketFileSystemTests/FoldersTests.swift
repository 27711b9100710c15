import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct FoldersTests {
    @Test func folderStaysWhenItsLastFileGoes() async throws {
        let bench = Bench(objects: [("d/f", "x")])
        _ = try await bench.list("d")
        try await bench.unlink("d/f")
        bench.advance(seconds: 61)
        #expect(try await bench.list() == ["d"])
        try await bench.removeDirectory("d")
        bench.advance(seconds: 61)
        #expect(try await bench.list() == [])
        #expect(bench.store.names == [])
    }

    /// Of a folder that is too large to be listed for each name, nobody knows which file is the last.
    @Test(arguments: [1, 3]) func anEmptiedLargeFolderStaysAlthoughTheKernelHasForgottenIt(pageSize: Int) async throws {
        let names = ["d/e/a", "d/e/b", "d/e/c", "d/e/d", "d/f"] + (pageSize == 1 ? ["x", "y"] : [])
        let bench = Bench({ $0.listPageSize = pageSize }, objects: names.map { ($0, "x") })
        _ = try await bench.list("d/e")
        bench.advance(seconds: 61)
        for name in ["d/e/a", "d/e/b", "d/e/c", "d/e/d"] { try await bench.unlink(name) }
        #expect(bench.store.names.contains(ObjectName("d/e/")) == false)
        bench.forgetAll()
        bench.advance(seconds: 61)
        #expect(await bench.exists("d/e"))
        #expect(try await bench.list("d").sorted() == ["e", "f"])
        #expect(try await bench.list("d/e") == [])
        #expect(await bench.files.shutDown().isEmpty)
        #expect(bench.store.names.contains(ObjectName("d/e/")))
    }

    @Test func folderWithEntriesIsNotRemoved() async throws {
        let bench = Bench(objects: [("d/f", "x")])
        #expect(await failure { try await bench.removeDirectory("d") }?.word == "directoryNotEmpty")
    }

    @Test func placeholderWithContentIsAFolder() async throws {
        let bench = Bench(objects: [("d/", "placeholder"), ("e/", ""), ("e/f", "x")])
        #expect(try await bench.list() == ["d", "e"])
        #expect(try await bench.list("d") == [])
        #expect(try await bench.list("e") == ["f"])
        try await bench.removeDirectory("d")
        #expect(bench.store.names == ["e/", "e/f"])
    }

    @Test func largeFolderListsEachNameOnceAndAsksForOneName() async throws {
        let bench = Bench({ $0.listPageSize = 10 }, objects: (0..<95).map { ("d/f\(100 + $0)", "x") })
        #expect(try await bench.list("d") == (0..<95).map { "f\(100 + $0)" })
        bench.advance(seconds: 61)
        bench.store.resetCounts()
        #expect(await bench.exists("d/f150"))
        #expect(bench.store.counts == [.list: 2, .metadata: 1])
    }

    @Test func renamedFolderTakesEverythingAlong() async throws {
        let bench = Bench(objects: [("d/", ""), ("d/a", "1"), ("d/s/b", "2"), ("other", "3")])
        let handle = try await bench.openForWriting("d/s/b")
        try bench.write(handle, "two")
        _ = try await bench.list("d")
        try await bench.rename("d", to: "e")
        #expect(bench.store.names == ["e/", "e/a", "e/s/b", "other"])
        try await bench.close(handle)
        #expect(bench.stored("e/s/b") == "two")
        #expect(bench.stored("d/s/b") == nil)
        #expect(try await bench.read("e/a") == "1")
        #expect(await bench.exists("d") == false)
    }

    @Test func failedFolderRenameLeavesEverythingWhereItWas() async throws {
        let bench = Bench(objects: (0..<20).map { ("d/f\($0)", "x") })
        let before = bench.store.names
        bench.failing.fail(.copy, call: 7, with: .serverFailed)
        #expect(await failure { try await bench.rename("d", to: "e") } != nil)
        #expect(bench.store.names == before)
        #expect(await bench.exists("d/f3"))
    }

    @Test func renameOntoAFolderThatAnotherClientFilledIsRefused() async throws {
        let bench = Bench(objects: [("d/a", "1")])
        try await bench.makeDirectory("n")
        bench.store.put("n/theirs", [1])
        #expect(await failure { try await bench.rename("d", to: "n") }?.word == "directoryNotEmpty")
    }

    @Test func renameOntoFullFolderIsRefusedAndOntoEmptyOneIsNot() async throws {
        let bench = Bench(objects: [("d/a", "1"), ("e/x", "2"), ("n/", "")])
        #expect(await failure { try await bench.rename("d", to: "e") }?.word == "directoryNotEmpty")
        try await bench.rename("d", to: "n")
        #expect(bench.store.names == ["e/x", "n/a"])
    }

    /// To whoever reads a directory "no such entry" is its end, and then half a tree is copied without a word.
    @Test func bucketThatVanishedIsNoEmptyFolder() async throws {
        let bench = Bench(objects: [("d/f", "text")])
        _ = try await bench.find("d")
        bench.failing.fail(.list, call: nil, with: .notFound)
        let error = await failure { _ = try await bench.list("d") }
        guard case .storage(let cause) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(cause.kind == .serverFailed)
    }
}
