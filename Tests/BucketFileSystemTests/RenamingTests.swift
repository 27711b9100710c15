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

    @Test(arguments: [true, false])
    func whatReplacesAFileTakesOverWhatIsNotSentYet(isStoredFirst: Bool) async throws {
        let bench = Bench()
        try await bench.write("f", "old")
        let file = try await bench.find("f").inode
        try await bench.set("user.colour", "red", of: file)
        try await bench.set("user.mime_type", "text/x-special", of: file)
        let handle = try await bench.openForWriting("tmp")
        try bench.write(handle, "new")
        if isStoredFirst { try await bench.files.flush(handle) }
        try await bench.rename("tmp", to: "f")
        try await bench.close(handle)
        #expect(await bench.files.shutDown().isEmpty)
        #expect(bench.store.object("f")?.headers.custom["colour"] == "red")
        #expect(bench.store.object("f")?.headers.contentType == "text/x-special")
    }

    /// Removing an attribute and taking one over: the one that is there afterwards is the replaced file's.
    @Test(arguments: [true, false])
    func whatWasTakenAwayFromAFileIsTakenOver(isStoredFirst: Bool) async throws {
        let bench = Bench()
        bench.store.put("f", [1], headers: ObjectHeaders(custom: ["colour": "red"]))
        bench.store.put("g.txt", [2], headers: ObjectHeaders(contentType: "a/b", custom: ["colour": "blue"]))
        let handle = try await bench.openForWriting("g.txt")
        let file = try await bench.find("g.txt").inode
        try bench.write(handle, "new")
        if isStoredFirst { try await bench.files.flush(handle) }
        try await bench.files.removeExtendedAttribute(Array("user.colour".utf8), of: file)
        try await bench.files.removeExtendedAttribute(Array("user.mime_type".utf8), of: file)
        try await bench.rename("g.txt", to: "f")
        #expect(try await bench.value("user.colour", of: file) == "red")
        #expect(try await bench.value("user.mime_type", of: file) == "application/octet-stream")
        try await bench.close(handle)
        #expect(await bench.files.shutDown().isEmpty)
        #expect(bench.store.object("f")?.headers.custom["colour"] == "red")
        #expect(bench.store.object("f")?.headers.contentType == "application/octet-stream")
    }

    @Test(arguments: [true, false]) func aLinkLeavesNoTypeToTheFileThatReplacesIt(isStoredFirst: Bool) async throws {
        let bench = Bench()
        _ = try await bench.files.makeSymbolicLink(EntryName("f.txt"), in: .root, target: Array("x".utf8))
        let handle = try await bench.openForWriting("tmp")
        if isStoredFirst { try await bench.files.flush(handle) }
        try await bench.rename("tmp", to: "f.txt")
        try await bench.close(handle)
        #expect(bench.store.object("f.txt")?.headers.contentType == "text/plain")
    }

    /// The bucket has the first file still, when the third comes to take its place.
    @Test(arguments: [true, false])
    func aFileReplacesANewOneThatHasReplacedAnOldOne(isStoredFirst: Bool) async throws {
        let bench = Bench()
        bench.store.put("f", [1], headers: ObjectHeaders(custom: ["colour": "red"]))
        let second = try await bench.openForWriting("second")
        try bench.write(second, "second")
        try await bench.rename("second", to: "f")
        let third = try await bench.openForWriting("third")
        try bench.write(third, "third")
        if isStoredFirst { try await bench.files.flush(third) }
        try await bench.rename("third", to: "f")
        try await bench.close(third)
        #expect(try await bench.read(second) == "second")
        try await bench.close(second)
        #expect(bench.store.names == ["f"])
        #expect(bench.stored("f") == "third")
        #expect(bench.store.object("f")?.headers.custom["colour"] == "red")
    }

    /// The folder's objects are copied, the old file's among them; it is no version of the new one.
    @Test func aNewFileThatHasReplacedAnOldOneIsRenamedWithItsFolder() async throws {
        let bench = Bench()
        bench.store.put("d/f", [1], headers: ObjectHeaders(custom: ["goog-reserved-posix-mode": "600"]))
        let handle = try await bench.openForWriting("tmp")
        try bench.write(handle, "new")
        try await bench.rename("tmp", to: "d/f")
        try await bench.rename("d", to: "e")
        #expect(try await bench.find("e/f").attributes.permissions == 0o644)
        try await bench.close(handle)
        #expect(bench.store.names == ["e/f"])
        #expect(bench.stored("e/f") == "new")
        #expect(bench.store.object("e/f")?.headers.custom["goog-reserved-posix-mode"] == nil)
    }

    @Test func aChangeOfMetadataOfWhatANewFileReplacesIsNoConflict() async throws {
        let bench = Bench(objects: [("f", "old")])
        let handle = try await bench.openForWriting("tmp")
        try bench.write(handle, "new")
        try await bench.rename("tmp", to: "f")
        bench.store.change(ObjectName("f"), MetadataPatch(custom: ["colour": .set("red")]))
        try await bench.close(handle)
        #expect(bench.stored("f") == "new")
    }

    @Test func aNewFileKeepsWhatItTookOverWhenItIsRenamedOn() async throws {
        let bench = Bench()
        bench.store.put("f", [1], headers: ObjectHeaders(custom: ["colour": "red"]))
        let handle = try await bench.openForWriting("tmp")
        try await bench.rename("tmp", to: "f")
        try await bench.rename("f", to: "g")
        try await bench.close(handle)
        #expect(bench.store.names == ["g"])
        #expect(bench.store.object("g")?.headers.custom["colour"] == "red")
    }

    /// As vim and emacs save, and in-place tools that keep a backup.
    @Test(arguments: ["made anew", "renamed there before it is stored", "renamed there"], [0, 20])
    func whatIsPutInThePlaceOfAFileThatWasJustRenamedAwayTakesOverWhatWasSetOnIt(
        how: String, secondsLater: UInt64
    ) async throws {
        let bench = Bench()
        bench.store.put(
            "page.bin", [1],
            headers: ObjectHeaders(
                contentType: "text/x-special", cacheControl: "no-cache",
                custom: ["owner": "alice", "firebaseStorageDownloadTokens": "t", "firemount_mode": "4755"]))
        try await bench.rename("page.bin", to: "page.bin~")
        bench.advance(seconds: secondsLater)
        let handle = try await bench.openForWriting(how == "made anew" ? "page.bin" : ".tmp")
        try bench.write(handle, "new")
        if how == "renamed there" { try await bench.files.flush(handle) }
        if how != "made anew" { try await bench.rename(".tmp", to: "page.bin") }
        try await bench.close(handle)
        let headers = try #require(bench.store.object("page.bin")?.headers)
        let isSoon = secondsLater == 0
        #expect(headers.contentType == (isSoon ? "text/x-special" : "application/octet-stream"))
        #expect(headers.cacheControl == (isSoon ? "no-cache" : nil))
        #expect(headers.custom["owner"] == (isSoon ? "alice" : nil))
        #expect(headers.custom["firebaseStorageDownloadTokens"] == (isSoon ? "t" : nil))
        #expect(headers.custom["firemount_mode"] == nil)
        #expect(bench.store.object("page.bin~")?.headers.custom["owner"] == "alice")
    }

    @Test func aDispositionThatSpellsTheOldNameDoesNotFollow() async throws {
        let bench = Bench()
        for (name, disposition) in [("a b", "inline; filename*=utf-8''a%20b"), ("c", "attachment")] {
            bench.store.put(name, [1], headers: ObjectHeaders(contentDisposition: disposition))
        }
        for name in ["a b", "c"] { try await bench.rename(name, to: "\(name)2") }
        #expect(bench.store.object("a b2")?.headers.contentDisposition == nil)
        #expect(bench.store.object("c2")?.headers.contentDisposition == "attachment")
    }

    /// What one had is not given to the other, and nothing of a name sticks to what is made of it next.
    @Test func filesThatChangePlacesKeepWhatIsTheirs() async throws {
        let bench = Bench()
        for name in ["a", "b"] {
            bench.store.put(name, [1], headers: ObjectHeaders(custom: [name: "1"]))
        }
        try await bench.rename("a", to: "t")
        try await bench.rename("b", to: "a")
        try await bench.rename("t", to: "b")
        #expect(bench.store.object("a")?.headers.custom.keys.filter { $0.count == 1 } == ["b"])
        #expect(bench.store.object("b")?.headers.custom.keys.filter { $0.count == 1 } == ["a"])
        try await bench.write("t", "new")
        try await bench.write("t2", "new")
        #expect(bench.store.object("t2")?.headers.custom["a"] == nil)
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
