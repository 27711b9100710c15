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
        #expect(bench.lines.contains { $0.contains("it is kept: firemount recover store ") })
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
        bench.damaging.damages(2)
        try bench.write(handle, "X")
        #expect(await failure { try await bench.files.flush(handle) }?.word == "storage")
        #expect(bench.stored("f") == "0123456789")
        try await bench.close(handle)
        #expect(bench.stored("f") == "X123456789")
    }

    @Test func damageToAPartOfTheBaseShowsByFetchingItTwice() async throws {
        let bench = Bench(objects: [("f", "0123456789")])
        let handle = try await bench.openForWriting("f")
        bench.damaging.damages(1)
        try bench.write(handle, "ABCDEFGHI")
        try await bench.close(handle)
        #expect(bench.stored("f") == "ABCDEFGHI9")
        #expect(bench.lines.contains { $0.contains("came twice") })
    }

    @Test func whatTheStoreItselfFindsDamagedIsFetchedAnew() async throws {
        let bench = Bench(objects: [("f", "0123456789")])
        let handle = try await bench.openForWriting("f")
        for call in 1...2 { bench.failing.fail(.read, call: call, .afterEffect, with: .corrupted) }
        try bench.write(handle, "X")
        #expect(await failure { try await bench.files.flush(handle) }?.word == "storage")
        let reads = bench.failing.counts[.read] ?? 0
        try await bench.close(handle)
        #expect(bench.stored("f") == "X123456789")
        #expect(bench.failing.counts[.read] == reads + 1)
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

    @Test(arguments: ["f", "new"])
    func anUploadWhoseAnswerWasLostIsNoConflictForTheNext(name: String) async throws {
        let bench = Bench(objects: [("f", "old")])
        let handle = try await bench.openForWriting(name)
        try bench.write(handle, "first")
        bench.failing.fail(.insert, .afterEffect, with: .timedOut)
        #expect(await failure { try await bench.files.synchronize(handle) }?.word == "storage")
        #expect(bench.stored(name) == "first")
        try bench.write(handle, "second")
        try await bench.close(handle)
        #expect(bench.stored(name) == "second")
    }

    /// `cp` makes files with `O_EXCL`.
    @Test func anExclusiveFileWhoseUploadGotNoAnswerDoesNotStandInItsOwnWay() async throws {
        let bench = Bench()
        let made = try await bench.files.create(
            EntryName("f"), in: .root, permissions: 0o644, OpenMode(reads: true, writes: true, truncates: true),
            exclusively: true)
        let handle = made.file.handle
        try bench.write(handle, "first")
        bench.failing.fail(.insert, .afterEffect, with: .timedOut)
        #expect(await failure { try await bench.files.synchronize(handle) }?.word == "storage")
        // Nor is it forgotten while nobody answers.
        bench.failing.fail(.insert, .beforeEffect, with: .preconditionFailed)
        bench.failing.fail(.metadata, with: .timedOut)
        #expect(await failure { try await bench.files.synchronize(handle) }?.word == "storage")
        try bench.write(handle, "second")
        try await bench.close(handle)
        #expect(bench.stored("f") == "second")
    }

    @Test func whatAnUploadWithoutAnAnswerHasMadeIsRemovedAndRenamedLikeTheFile() async throws {
        for change in ["unlink", "rename", "replace"] {
            let bench = Bench(objects: [("other", "other")])
            let handle = try await bench.openForWriting("f")
            try bench.write(handle, "first")
            bench.failing.fail(.insert, .afterEffect, with: .timedOut)
            #expect(await failure { try await bench.files.synchronize(handle) }?.word == "storage")
            switch change {
            case "unlink": try await bench.unlink("f")
            case "rename": try await bench.rename("f", to: "g")
            default: try await bench.rename("other", to: "f")
            }
            try await bench.close(handle)
            switch change {
            case "unlink": #expect(bench.store.names == ["other"])
            case "rename": #expect(bench.store.names == ["g", "other"])
            default: #expect(bench.stored("f") == "other")
            }
            #expect(await bench.files.shutDown() == [])
        }
    }

    @Test func whatAnotherClientStoredAfterAFailureIsAConflict() async throws {
        let bench = Bench(objects: [("f", "old")])
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, "first")
        bench.failing.fail(.insert, with: .timedOut)
        #expect(await failure { try await bench.files.synchronize(handle) }?.word == "storage")
        bench.store.put("f", Array("theirs".utf8))
        #expect(await failure { try await bench.close(handle) }?.word == "stale")
        #expect(bench.stored("f") == "theirs")
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
        #expect(custom["gcsfuse_mtime"] == "2001-09-09T01:46:40.123456789+00:00")
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

extension InMemoryStore {
    func object(_ name: String) -> ObjectMetadata? { object(ObjectName(name)) }
    func change(_ name: String, _ patch: MetadataPatch) { change(ObjectName(name), patch) }
    func remove(_ name: String) { remove(ObjectName(name)) }
}

extension ObjectName: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}
