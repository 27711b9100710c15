import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct RenamingTests {
    @Test func fileRenameIsOneMoveAndFixesTheType() async throws {
        let bench = Bench()
        try await bench.write("f.txt", "x")
        bench.store.resetCounts()
        try await bench.rename("f.txt", to: "g.txt")
        #expect(bench.store.counts[.move] == 1)
        #expect(bench.store.counts[.patch] == nil)
        try await bench.rename("g.txt", to: "h.html")
        #expect(bench.store.object("h.html")?.headers.contentType == "text/html")
        #expect(try await bench.read("h.html") == "x")
        #expect(await bench.exists("f.txt") == false)
    }

    @Test func temporaryNameOfRsyncHasTheFinalNamesTypeFromTheStart() async throws {
        let bench = Bench()
        try await bench.write(".page.html.Ab3xYz", "x")
        bench.store.resetCounts()
        try await bench.rename(".page.html.Ab3xYz", to: "page.html")
        #expect(bench.store.object("page.html")?.headers.contentType == "text/html")
        #expect(bench.store.counts[.patch] == nil)
    }

    @Test func renameKeepsTheTimeThatOnlyTheBucketKnew() async throws {
        let bench = Bench(objects: [("f", "x")])
        let before = try await bench.find("f").attributes.modified
        try await bench.rename("f", to: "g")
        #expect(try await bench.find("g").attributes.modified == before)
    }

    @Test(arguments: [true, false])
    func whatReplacesAnObjectTakesOverWhatWasSetOnIt(isStoredFirst: Bool) async throws {
        let bench = Bench()
        bench.store.put(
            "page.bin", [1],
            headers: ObjectHeaders(
                contentType: "text/x-special", contentLanguage: "de", cacheControl: "no-cache",
                custom: [
                    "owner": "alice", "firebaseStorageDownloadTokens": "t", "gcsfuse_mtime": "2001-01-01T00:00:00Z",
                ]))
        let handle = try await bench.openForWriting(".tmp")
        try bench.write(handle, "new")
        if isStoredFirst { try await bench.files.flush(handle) }
        try await bench.rename(".tmp", to: "page.bin")
        try await bench.close(handle)
        let headers = try #require(bench.store.object("page.bin")?.headers)
        #expect(headers.contentType == "text/x-special")
        #expect(headers.contentLanguage == "de")
        #expect(headers.cacheControl == "no-cache")
        #expect(headers.custom["owner"] == "alice")
        #expect(headers.custom["firebaseStorageDownloadTokens"] == "t")
        #expect(headers.custom["gcsfuse_mtime"]?.hasPrefix("2023") == true)
    }

    @Test func renameReplacesAndHonoursNoReplace() async throws {
        let bench = Bench(objects: [("a", "longer text"), ("b", "2")])
        #expect(await failure { try await bench.rename("b", to: "a", replaces: false) }?.word == "exists")
        try await bench.rename("b", to: "a")
        #expect(bench.store.names == ["a"])
        #expect(try await bench.read("a") == "2")
    }

    @Test func openDirtyFileIsStoredUnderItsNewNameOnly() async throws {
        let bench = Bench(objects: [("old", "x")])
        for (source, target) in [("new", "n2"), ("old", "o2")] {
            let handle = try await bench.openForWriting(source)
            try bench.write(handle, "first")
            try await bench.rename(source, to: target)
            try bench.write(handle, "SECOND", at: 5)
            try await bench.close(handle)
            #expect(bench.stored(target) == "firstSECOND")
            #expect(bench.stored(source) == nil)
        }
    }

    @Test func newFileRenamedOverAnExistingOneReplacesItWhenStored() async throws {
        let bench = Bench(objects: [("f", "old")])
        let handle = try await bench.openForWriting("tmp")
        try bench.write(handle, "new")
        try await bench.rename("tmp", to: "f")
        try await bench.close(handle)
        #expect(bench.store.names == ["f"])
        #expect(bench.stored("f") == "new")
    }

    @Test func readerOfAReplacedFileGoesOnReadingItsOwnBytes() async throws {
        let bench = Bench(objects: [("f", "old bytes"), ("g", "new")])
        let entry = try await bench.find("f")
        let file = try await bench.files.open(entry.inode, OpenMode(reads: true, writes: false, truncates: false))
        try await bench.rename("g", to: "f")
        #expect(try await bench.read(file.handle) == "old bytes")
        bench.files.release(file.handle)
        #expect(try await bench.read("f") == "new")
    }
}
