import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct RefreshingTests {
    @Test func whatOthersChangedShowsAtOnceAfterARefresh() async throws {
        let bench = Bench(objects: [("d/f", "old"), ("d/e/g", "x"), ("d/gone", "x")])
        #expect(try await bench.read("d/f") == "old")
        #expect(try await bench.list("d/e") == ["g"])
        #expect(await bench.exists("d/new") == false)
        bench.store.put("d/f", Array("newer".utf8))
        bench.store.put("d/new", [1])
        bench.store.put("d/e/h", [1])
        bench.store.remove("d/gone")
        try await bench.files.refresh(try await bench.find("d").inode)
        #expect(try await bench.read("d/f") == "newer")
        #expect(try await bench.list("d/e") == ["g", "h"])
        #expect(await bench.exists("d/new"))
        #expect(await bench.exists("d/gone") == false)
    }

    @Test func aFileIsRefreshedByItself() async throws {
        let bench = Bench(objects: [("d/f", "old")])
        #expect(try await bench.read("d/f") == "old")
        bench.store.put("d/f", Array("newer".utf8))
        try await bench.set("user.storage.control", "refresh\n", of: try await bench.find("d/f").inode)
        #expect(try await bench.read("d/f") == "newer")
    }

    @Test func unsavedBytesSurviveARefresh() async throws {
        let bench = Bench(objects: [("f", "base")])
        let handle = try await bench.openForWriting("f")
        let new = try await bench.openForWriting("new")
        try bench.write(handle, "XX", at: 1)
        try bench.write(new, "text")
        try await bench.files.refresh(.root)
        #expect(try await bench.read(handle) == "bXXe")
        #expect(Set(try await bench.list()) == ["f", "new"])
        try await bench.close(handle)
        try await bench.close(new)
        #expect(bench.stored("f") == "bXXe")
        #expect(bench.stored("new") == "text")
    }
}
