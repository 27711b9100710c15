import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct NamesAndFilesTests {
    @Test func fileOfTheBucketIsFoundAndRead() async throws {
        let bench = Bench(objects: [("a/b/c.txt", "hello")])
        #expect(try await bench.read("a/b/c.txt") == "hello")
        #expect(try await bench.list() == ["a"])
        #expect(try await bench.list("a") == ["b"])
        #expect(await bench.exists("a/x") == false)
    }

    @Test func listedFolderAnswersLookupsWithoutRequests() async throws {
        let bench = Bench(objects: (0..<50).map { ("d/f\($0)", "x") })
        _ = try await bench.list("d")
        bench.store.resetCounts()
        for index in 0..<50 { #expect(await bench.exists("d/f\(index)")) }
        #expect(await bench.exists("d/absent") == false)
        #expect(bench.store.requestCount == 0)
    }

    @Test func newFileInListedFolderCostsOneRequest() async throws {
        let bench = Bench(objects: [("d/f", "x")])
        _ = try await bench.list("d")
        bench.store.resetCounts()
        try await bench.write("d/new.txt", "text")
        #expect(bench.store.counts == [.insert: 1])
        #expect(bench.stored("d/new.txt") == "text")
        #expect(bench.store.object("d/new.txt")?.headers.contentType == "text/plain")
    }

    @Test func othersFileShowsAfterNegativeTTL() async throws {
        let bench = Bench(objects: [("d/f", "x")])
        #expect(await bench.exists("d/new") == false)
        bench.store.put("d/new", [1])
        #expect(await bench.exists("d/new") == false)
        bench.advance(seconds: 6)
        #expect(await bench.exists("d/new"))
    }

    @Test func nameThatWasRemovedLongAgoCanBeMadeAgain() async throws {
        let bench = Bench(objects: [("d/f", "x")])
        for _ in 0..<3 {
            try await bench.write("d/lock", "1")
            try await bench.rename("d/lock", to: "d/f")
            bench.advance(seconds: 6)
        }
        #expect(bench.store.names == ["d/f"])
    }

    @Test func othersDeletionShowsAfterTTL() async throws {
        let bench = Bench(objects: [("d/f", "x"), ("d/g", "x")])
        #expect(await bench.exists("d/f"))
        bench.store.remove("d/f")
        bench.advance(seconds: 61)
        #expect(await bench.exists("d/f") == false)
        #expect(try await bench.list("d") == ["g"])
    }

    @Test func replacedObjectGetsANewInodeAndTheSameFileNumber() async throws {
        let bench = Bench(objects: [("f", "old")])
        let old = try await bench.find("f")
        bench.store.put("f", Array("newer".utf8))
        bench.advance(seconds: 61)
        let new = try await bench.find("f")
        #expect(old.inode != new.inode)
        #expect(old.attributes.fileNumber == new.attributes.fileNumber)
        #expect(new.attributes.size == 5)
        #expect(await failure { try await bench.files.attributes(of: old.inode) }?.word == "stale")
    }

    @Test func openHandleShowsItsOwnVersionToItsReads() async throws {
        let bench = Bench(objects: [("f", "old")])
        let entry = try await bench.find("f")
        let file = try await bench.files.open(entry.inode, OpenMode(reads: true, writes: false, truncates: false))
        bench.store.put("f", Array("newer".utf8))
        bench.advance(seconds: 61)
        #expect(try await bench.files.attributes(of: entry.inode, handle: file.handle).attributes.size == 3)
        #expect(try await bench.read(file.handle) == "old")
        #expect(await failure { try await bench.files.attributes(of: entry.inode) }?.word == "stale")
        bench.files.release(file.handle)
        #expect(try await bench.read("f") == "newer")
    }

    @Test func exclusiveCreationIsToldOfAnotherClientsFileAtTheLatestAtClose() async throws {
        let bench = Bench(objects: [("g", "x")])
        #expect(await bench.exists("lock") == false)
        bench.store.put("lock", Array("theirs".utf8))
        let mode = OpenMode(reads: false, writes: true, truncates: false)
        let made = try await bench.files.create(
            EntryName("lock"), in: .root, permissions: 0o644, mode, exclusively: true)
        #expect(await failure { try await bench.files.flush(made.file.handle) }?.word == "exists")
        #expect(bench.stored("lock") == "theirs")
    }

    @Test func overwriteConflictingWithAnotherClientIsStaleAndKeepsTheirs() async throws {
        let bench = Bench(objects: [("f", "base")])
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, "ours")
        bench.store.put("f", Array("theirs".utf8))
        #expect(await failure { try await bench.files.flush(handle) }?.word == "stale")
        #expect(bench.stored("f") == "theirs")
        bench.files.release(handle)
        await bench.files.afterwork.wait()
        #expect(bench.lines.contains { $0.contains("its bytes are kept in") })
        #expect(try await bench.read("f") == "theirs")
    }

    @Test func metadataChangeOfAnotherClientIsNoConflictAndSurvives() async throws {
        let bench = Bench(objects: [("f", "base")])
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, "ours!")
        bench.store.change("f", MetadataPatch(custom: ["k": .set("v")]))
        try await bench.close(handle)
        #expect(bench.stored("f") == "ours!")
        #expect(bench.store.object("f")?.headers.custom["k"] == "v")
    }

    @Test func damagedBaseBytesDoNotBecomeTheNewVersion() async throws {
        let bench = Bench(objects: [("f", "0123456789")])
        let handle = try await bench.openForWriting("f")
        bench.damaging.damages(1)
        try bench.write(handle, "X")
        #expect(await failure { try await bench.files.flush(handle) }?.word == "storage")
        #expect(bench.stored("f") == "0123456789")
        try await bench.close(handle)
        #expect(bench.stored("f") == "X123456789")
    }

    @Test func openDuringARemovalWaitsForItAndFindsNothing() async throws {
        let bench = Bench(objects: [("f", "bytes")])
        let entry = try await bench.find("f")
        bench.store.hold(.delete)
        async let removal: Void = bench.unlink("f")
        await bench.store.waitUntilHeld(.delete)
        async let opened = failure {
            try await bench.files.open(entry.inode, OpenMode(reads: true, writes: false, truncates: false))
        }
        bench.store.release(.delete)
        try await removal
        #expect(await opened?.word == "stale")
    }

    @Test func bucketThatVanishedIsNoMissingFileToAClose() async throws {
        let bench = Bench()
        let handle = try await bench.openForWriting("f")
        bench.failing.fail(.insert, with: .notFound)
        let error = await failure { try await bench.files.flush(handle) }
        guard case .storage(let cause) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(cause.kind == .serverFailed)
        try await bench.close(handle)
    }

    @Test func appendAndEditInPlaceKeepTheRest() async throws {
        let bench = Bench(objects: [("f", "0123456789")])
        try await bench.write("f", "ab", appends: true)
        #expect(bench.stored("f") == "0123456789ab")
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, "XY", at: 3)
        #expect(try await bench.read(handle) == "012XY56789ab")
        try await bench.close(handle)
        #expect(bench.stored("f") == "012XY56789ab")
    }

    @Test(arguments: [(0, ""), (4, "0123"), (10, "0123456789"), (12, "0123456789\0\0")])
    func truncateByPathIsStored(size: Int64, expected: String) async throws {
        let bench = Bench(objects: [("f", "0123456789")])
        let entry = try await bench.find("f")
        var changes = AttributeChanges()
        changes.size = size
        let after = try await bench.files.setAttributes(of: entry.inode, to: changes, handle: nil)
        #expect(after.attributes.size == size)
        #expect(bench.stored("f") == expected)
    }

    @Test func shrinkThenGrowShowsZerosNotOldBytes() async throws {
        let bench = Bench(objects: [("f", "0123456789")])
        let handle = try await bench.openForWriting("f")
        let inode = try await bench.find("f").inode
        for size: Int64 in [3, 8] {
            var changes = AttributeChanges()
            changes.size = size
            _ = try await bench.files.setAttributes(of: inode, to: changes, handle: handle)
        }
        #expect(try await bench.read(handle) == "012\0\0\0\0\0")
        try await bench.close(handle)
        #expect(bench.stored("f") == "012\0\0\0\0\0")
    }

    @Test func failedUploadIsToldAndStaysDirty() async throws {
        let bench = Bench()
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, "data")
        bench.failing.fail(.insert, with: .forbidden)
        #expect(await failure { try await bench.files.flush(handle) }?.word == "storage")
        #expect(bench.stored("f") == nil)
        try await bench.close(handle)
        #expect(bench.stored("f") == "data")
    }

    @Test func emptiedFileIsStoredAtTheLastCloseOfItsCaller() async throws {
        let bench = Bench(objects: [("f", "old")])
        let handle = try await bench.openForWriting("f", truncates: true)
        try await bench.files.flush(handle) { _ in true }
        #expect(bench.stored("f") == "old")
        try bench.write(handle, "new")
        try await bench.files.flush(handle) { _ in true }
        #expect(bench.stored("f") == "new")
        #expect(bench.store.counts[.insert] == 1)
        let empty = try await bench.openForWriting("f", truncates: true)
        try await bench.files.flush(empty) { _ in false }
        #expect(bench.stored("f") == "")
    }

    @Test func unlinkedOpenFileKeepsItsBytesForTheHolder() async throws {
        let bench = Bench(objects: [("f", "bytes")])
        let handle = try await bench.openForWriting("f")
        try await bench.unlink("f")
        #expect(bench.stored("f") == nil)
        #expect(try await bench.read(handle) == "bytes")
        try bench.write(handle, "BY")
        try await bench.close(handle)
        #expect(bench.stored("f") == nil)
        #expect(await bench.exists("f") == false)
    }

    @Test func timesAndPermissionsArePatchedAndSurvive() async throws {
        let bench = Bench(objects: [("f", "x")])
        var changes = AttributeChanges()
        changes.modified = .at(Timestamp(seconds: 1_000_000_000, nanoseconds: 123_456_789))
        changes.permissions = 0o600
        bench.store.resetCounts()
        let entry = try await bench.find("f")
        _ = try await bench.files.setAttributes(of: entry.inode, to: changes, handle: nil)
        #expect(bench.store.counts[.patch] == 1)
        #expect(bench.store.counts[.insert] == nil)
        let custom = try #require(bench.store.object("f")?.headers.custom)
        #expect(custom["goog-reserved-file-mtime"] == "1000000000")
        #expect(custom["gcsfuse_mtime"] == "2001-09-09T01:46:40.123456789Z")
        #expect(custom["goog-reserved-posix-mode"] == "600")
        // The same again costs nothing.
        _ = try await bench.files.setAttributes(of: entry.inode, to: changes, handle: nil)
        #expect(bench.store.counts[.patch] == 1)
    }

    @Test func symbolicLinkIsKeptInBothForms() async throws {
        let bench = Bench()
        _ = try await bench.files.makeSymbolicLink(EntryName("l"), in: .root, target: Array("../x y".utf8))
        let entry = try await bench.find("l")
        #expect(entry.attributes.kind == .symbolicLink)
        #expect(try await bench.files.target(ofSymbolicLink: entry.inode) == Array("../x y".utf8))
        #expect(bench.stored("l") == "../x y")
        #expect(bench.store.object("l")?.headers.custom["goog-reserved-file-is-symlink"] == "true")
    }

    @Test func gcloudLinkWithoutKeyReadsItsContent() async throws {
        let bench = Bench()
        bench.store.put("l", Array("t".utf8), headers: ObjectHeaders(custom: ["goog-reserved-file-is-symlink": "true"]))
        #expect(try await bench.files.target(ofSymbolicLink: bench.find("l").inode) == [UInt8(ascii: "t")])
    }
}

@Suite struct OddNamesTests {
    @Test func everyObjectIsReachableAndShownOnce() async throws {
        let long = String(repeating: "x", count: 300)
        let names = ["a", "a/b", "c//d", "/e", "./f", "g/../h", "i\nj", long, long + "/k", "l"]
        let bench = Bench(objects: names.map { ($0, $0) })
        func read(_ path: String) async throws -> [String] {
            var found: [String] = []
            for name in try await bench.list(path) {
                let below = path.isEmpty ? name : path + "/" + name
                let isFolder = try await bench.find(below).attributes.kind == .directory
                found += isFolder ? try await read(below) : [try await bench.read(below)]
            }
            return found
        }
        #expect(try await read("").sorted() == names.sorted())
    }

    @Test func removingOneOfAFileAndAFolderOfOneNameLeavesTheOther() async throws {
        let bench = Bench(objects: [("a", "1"), ("a/b", "2"), ("c", "3"), ("c/d", "4")])
        #expect(try await bench.list().sorted() == ["a", "a\u{FF05}2F", "c", "c\u{FF05}2F"])
        try await bench.unlink("a")
        #expect(bench.store.names == ["a/b", "c", "c/d"])
        try await bench.rename("c\u{FF05}2F", to: "e")
        #expect(bench.store.names == ["a/b", "c", "e/d"])
    }

    @Test func fileAndFolderOfOneNameAreToldApartInALargeFolder() async throws {
        let many = (0..<30).map { ("f\(100 + $0)", "x") } + [("f115/y", "z")]
        let bench = Bench({ $0.listPageSize = 10 }, objects: many)
        _ = await bench.exists("nothing")
        #expect(try await bench.read("f115") == "x")
        #expect(try await bench.read("f115\u{FF05}2F/y") == "z")
        #expect(await bench.exists("f116\u{FF05}2F") == false)
    }

    @Test(arguments: [
        "a\nb", "x\u{FF05}2F", "\u{FF05}41", "\u{FF05}", "\u{FF05}2E", "\u{FF05}2E\u{FF05}2E",
    ])
    func newNameThatNoObjectCanHaveIsRefused(name: String) async throws {
        let bench = Bench()
        #expect(await failure { try await bench.write(name, "x") }?.word == "invalidArgument")
        #expect(bench.store.names == [])
    }

    @Test func fileCannotBecomeItsFoldersPlaceholder() async throws {
        let bench = Bench(objects: [("d/f", "x"), ("g", "y")])
        #expect(await failure { try await bench.write("d/\u{FF05}", "lost") }?.word == "invalidArgument")
        #expect(await failure { try await bench.rename("g", to: "d/\u{FF05}") }?.word == "invalidArgument")
        #expect(bench.store.names == ["d/f", "g"])
        try await bench.makeDirectory("d/\u{FF05}")
        try await bench.write("d/\u{FF05}/\u{FF05}2E", "kept")
        #expect(bench.stored("d//.") == "kept")
    }

    @Test func tooLongNamesAreRefused() async throws {
        let bench = Bench()
        #expect(await failure { try await bench.write(String(repeating: "x", count: 256), "") }?.word == "nameTooLong")
        let segment = String(repeating: "y", count: 250)
        var path = segment
        for _ in 0..<4 {
            try await bench.makeDirectory(path)
            path += "/" + segment
        }
        #expect(await failure { try await bench.makeDirectory(path) }?.word == "nameTooLong")
    }
}

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
}

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

extension InMemoryStore {
    func object(_ name: String) -> ObjectMetadata? { object(ObjectName(name)) }
    func change(_ name: String, _ patch: MetadataPatch) { change(ObjectName(name), patch) }
    func remove(_ name: String) { remove(ObjectName(name)) }
}

extension ObjectName: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}
