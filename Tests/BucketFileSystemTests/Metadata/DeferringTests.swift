import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct DeferringTests {
    private static let old = Timestamp(seconds: 1_000, nanoseconds: 5)

    @Test func changesRightAfterAnUploadAreOnePatch() async throws {
        let bench = Bench()
        try await bench.write("f", "text")
        let file = try await bench.find("f").inode
        bench.store.resetCounts()
        try await bench.change(file) { $0.modified = .at(Self.old) }
        try await bench.change(file) { $0.permissions = 0o600 }
        try await bench.set("user.colour", "red", of: file)
        #expect(bench.store.requestCount == 0)
        let shown = try await bench.find("f").attributes
        #expect(shown.modified == Self.old)
        #expect(shown.permissions == 0o600)
        #expect(try await bench.value("user.colour", of: file) == "red")
        #expect(try bench.files.journal.entries().entries.count == 1)
        try await bench.settle(file)
        #expect(bench.store.counts == [.patch: 1])
        let custom = try #require(bench.store.object("f")?.headers.custom)
        #expect(custom["goog-reserved-file-mtime"] == "1000")
        #expect(custom["goog-reserved-posix-mode"] == "600")
        #expect(custom["colour"] == "red")
        #expect(try bench.files.journal.entries().entries.isEmpty)
    }

    /// So the kernel asks for the name again, and the change goes to what is there.
    @Test func aChangeOfWhatSomebodyHasReplacedIsRefused() async throws {
        let bench = Bench(objects: [("f", "text")])
        let old = try await bench.find("f").inode
        bench.store.put("f", Array("new".utf8))
        bench.advance(seconds: 61)
        let new = try await bench.find("f").inode
        #expect(await failure { try await bench.change(old) { $0.permissions = 0o600 } }?.word == "stale")
        try await bench.change(new) { $0.permissions = 0o600 }
        #expect(bench.store.object("f")?.headers.custom["goog-reserved-posix-mode"] == "600")
    }

    @Test func aRenameTakesThemAlong() async throws {
        let bench = Bench()
        _ = try await bench.list()
        bench.store.resetCounts()
        try await bench.write(".f.html.Ab3xYz", "text")
        try await bench.change(try await bench.find(".f.html.Ab3xYz").inode) { $0.modified = .at(Self.old) }
        try await bench.change(try await bench.find(".f.html.Ab3xYz").inode) { $0.permissions = 0o600 }
        try await bench.rename(".f.html.Ab3xYz", to: "f.html")
        #expect(bench.store.counts == [.insert: 1, .move: 1, .patch: 1])
        let object = try #require(bench.store.object("f.html"))
        #expect(object.headers.custom["goog-reserved-file-mtime"] == "1000")
        #expect(object.headers.contentType == "text/html")
        #expect(try bench.files.journal.entries().entries.isEmpty)
        try await bench.settle(try await bench.find("f.html").inode)
        #expect(bench.store.counts[.patch] == 1)
    }

    @Test func theNextUploadTakesThemAlong() async throws {
        let bench = Bench()
        try await bench.write("f", "text")
        let file = try await bench.find("f").inode
        try await bench.change(file) { $0.permissions = 0o600 }
        try await bench.write("f", "more", appends: true)
        #expect(bench.store.counts[.patch] == nil)
        #expect(bench.store.object("f")?.headers.custom["goog-reserved-posix-mode"] == "600")
        #expect(try bench.files.journal.entries().entries.isEmpty)
    }

    @Test func aChangeOfAnObjectThatWasNotJustWrittenIsSentAtOnce() async throws {
        let bench = Bench(objects: [("f", "x")])
        let file = try await bench.find("f").inode
        bench.failing.fail(.patch, with: .forbidden)
        let error = await failure { try await bench.change(file) { $0.permissions = 0o600 } }
        #expect(error?.word == "storage")
        bench.failing.stopFailing()
        try await bench.change(file) { $0.permissions = 0o600 }
        #expect(bench.store.object("f")?.headers.custom["goog-reserved-posix-mode"] == "600")
    }

    @Test func aFailureIsToldToTheNextFsync() async throws {
        let bench = Bench()
        try await bench.write("f", "text")
        let file = try await bench.find("f").inode
        let before = try await bench.find("f").attributes
        try await bench.change(file) { $0.permissions = 0o600 }
        bench.failing.fail(.patch, with: .forbidden)
        #expect(await failure { try await bench.settle(file) }?.word == "storage")
        bench.failing.stopFailing()
        #expect(try await bench.find("f").attributes.permissions == before.permissions)
        #expect(try bench.files.journal.entries().entries.isEmpty)
        let handle = try await bench.openForWriting("f")
        #expect(await failure { try await bench.files.synchronize(handle) }?.word == "storage")
        #expect(await failure { try await bench.files.synchronize(handle) } == nil)
        try await bench.close(handle)
    }

    @Test func theEndOfAMountSendsThem() async throws {
        let bench = Bench()
        try await bench.makeDirectory("d")
        try await bench.write("d/f", "text")
        try await bench.change(try await bench.find("d/f").inode) { $0.permissions = 0o600 }
        try await bench.change(try await bench.find("d").inode) { $0.permissions = 0o700 }
        // A folder's do not wait.
        #expect(bench.store.counts[.patch] == 1)
        #expect(await bench.files.shutDown().isEmpty)
        #expect(bench.store.object("d/f")?.headers.custom["goog-reserved-posix-mode"] == "600")
        #expect(bench.store.object("d/")?.headers.custom["goog-reserved-posix-mode"] == "700")
        #expect(try bench.files.journal.entries().entries.isEmpty)
    }

    @Test func theyAreSentByThemselvesAfterAMoment() async throws {
        let bench = Bench { $0.metadataDelay = .milliseconds(1) }
        try await bench.write("f", "text")
        let file = try await bench.find("f").inode
        try await bench.change(file) { $0.permissions = 0o600 }
        bench.store.hold(.patch)
        await bench.store.waitUntilHeld(.patch)
        bench.store.release(.patch)
        await bench.files.afterwork.wait()
        #expect(bench.store.object("f")?.headers.custom["goog-reserved-posix-mode"] == "600")
    }

    @Test func whatIsRemovedIsNotChangedAnyMore() async throws {
        let bench = Bench()
        try await bench.write("f", "text")
        try await bench.change(try await bench.find("f").inode) { $0.permissions = 0o600 }
        try await bench.unlink("f")
        #expect(try bench.files.journal.entries().entries.isEmpty)
        #expect(await bench.files.shutDown().isEmpty)
        #expect(bench.store.counts[.patch] == nil)
    }

    @Test func theyShowAlthoughTheKernelHasForgottenFileAndFolder() async throws {
        let bench = Bench()
        try await bench.makeDirectory("d")
        try await bench.makeDirectory("d/e")
        try await bench.write("d/e/f", "text")
        let file = try await bench.find("d/e/f").inode
        try await bench.change(file) { $0.permissions = 0o600 }
        bench.forgetAll()
        #expect(try await bench.find("d/e/f").attributes.permissions == 0o600)
        try await bench.change(try await bench.find("d/e/f").inode) { $0.modified = .at(Self.old) }
        bench.forgetAll()
        try await bench.rename("d", to: "g")
        #expect(bench.store.object("g/e/f")?.headers.custom["goog-reserved-posix-mode"] == "600")
        #expect(bench.store.object("g/e/f")?.headers.custom["goog-reserved-file-mtime"] == "1000")
    }

    /// Once it is written to, an upload takes the changes along; but none comes when the file is gone.
    @Test(arguments: ["unlink", "rename", "rename new"])
    func whatIsWrittenToAndRemovedIsNotInTheJournalAnyMore(way: String) async throws {
        let bench = Bench()
        let handle = try await bench.openForWriting("f")
        try await bench.files.flush(handle)
        try await bench.change(try await bench.find("f").inode) { $0.permissions = 0o600 }
        try bench.write(handle, "text")
        if way == "unlink" {
            try await bench.unlink("f")
        } else {
            let other = try await bench.openForWriting("g")
            if way == "rename" { try await bench.files.flush(other) }
            try await bench.rename("g", to: "f")
            try await bench.close(other)
        }
        try bench.write(handle, "more")
        #expect(try bench.files.journal.entries().entries.isEmpty)
        bench.files.release(handle)
        #expect(await bench.files.shutDown().isEmpty)
    }

    @Test func aRenamedFolderTakesThemAlong() async throws {
        let bench = Bench()
        try await bench.makeDirectory("d")
        try await bench.write("d/f", "text")
        try await bench.change(try await bench.find("d/f").inode) { $0.permissions = 0o600 }
        try await bench.change(try await bench.find("d").inode) { $0.permissions = 0o700 }
        try await bench.rename("d", to: "e")
        #expect(bench.store.object("e/f")?.headers.custom["goog-reserved-posix-mode"] == "600")
        #expect(bench.store.object("e/")?.headers.custom["goog-reserved-posix-mode"] == "700")
    }

    @Test func aRenameStandsThoughItsMetadataCouldNotFollow() async throws {
        let bench = Bench()
        try await bench.write("f.txt", "text")
        bench.failing.fail(.patch, with: .serverFailed)
        try await bench.rename("f.txt", to: "f.html")
        bench.failing.stopFailing()
        #expect(try await bench.read("f.html") == "text")
        #expect(await bench.exists("f.txt") == false)
        try await bench.settle(try await bench.find("f.html").inode)
        #expect(bench.store.object("f.html")?.headers.contentType == "text/html")
    }
}

extension Bench {
    func change(_ inode: InodeNumber, _ set: (inout AttributeChanges) -> Void) async throws {
        var changes = AttributeChanges()
        set(&changes)
        _ = try await files.setAttributes(of: inode, to: changes, handle: nil)
    }
}
