import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// `--write-back`: `close` is answered by the journal, and the bucket follows.
struct WritingBackTests {
    private func bench(objects: [(String, String)] = []) -> Bench { Bench({ $0.writesBack = true }, objects: objects) }

    private func changed(_ bench: Bench, _ path: String, _ text: String) async throws -> HandleID {
        let handle = try await bench.openForWriting(path, truncates: true)
        try bench.write(handle, text)
        return handle
    }

    @Test func closeDoesNotWaitForTheBucketAndFsyncDoes() async throws {
        let bench = bench()
        bench.store.hold(.insert)
        try await bench.write("f", "bytes")
        #expect(bench.stored("f") == nil)
        #expect(try await bench.read("f") == "bytes")
        let handle = try await bench.openForWriting("f")
        async let synchronized: Void = bench.files.synchronize(handle)
        await bench.store.waitUntilHeld(.insert)
        bench.store.release(.insert)
        try await synchronized
        #expect(bench.stored("f") == "bytes")
    }

    @Test func aFileThatWaitsIsThereAlthoughTheKernelHasForgottenItsFolder() async throws {
        let bench = bench()
        try await bench.makeDirectory("d")
        bench.store.hold(.insert)
        try await bench.write("d/f", "bytes")
        bench.forgetAll()
        #expect(try await bench.list("d") == ["f"])
        #expect(try await bench.read("d/f") == "bytes")
        bench.forgetAll()
        bench.store.release(.insert)
        await bench.files.afterwork.wait()
        #expect(bench.stored("d/f") == "bytes")
        // Nothing is kept for it any more.
        #expect(bench.files.namespace.withLock { $0.allNodes.count } == 1)
    }

    /// Two close the file at once: one comes to its end, and the upload too, before the other goes on.
    @Test(arguments: [true, false]) func aCloseThatIsOvertakenSealsNothingAnew(isWrittenOn: Bool) async throws {
        let bench = bench()
        let handle = try await bench.openForWriting("f")
        let inode = try await bench.find("f").inode
        let contents = try bench.files.contents(of: inode)
        if isWrittenOn {
            bench.store.hold(.insert)
            try bench.write(handle, "older")
            try await bench.files.flush(handle)
        }
        try bench.write(handle, "newest")
        let late = try #require(contents.snapshot())
        try await bench.files.flush(handle)
        bench.store.release(.insert)
        await bench.files.afterwork.wait()
        #expect(bench.stored("f") == "newest")
        let place = try bench.files.journalPlace(of: inode)
        #expect(try contents.sealForLater(late, as: place, MetadataPatch(), checksum: 0) == false)
        #expect(try bench.journal.entries().entries.isEmpty)
        try bench.write(handle, "!", appends: true)
        try await bench.close(handle)
        await bench.files.afterwork.wait()
        #expect(bench.stored("f") == "newest!")
        #expect(try bench.journal.entries().entries.isEmpty)
    }

    /// Of two who close it at once, the later finds it sealed. Its upload has not begun for that.
    @Test func contentThatIsClosedTwiceGivesWayToNewer() async throws {
        let bench = bench()
        let handle = try await bench.openForWriting("f")
        let contents = try bench.files.contents(of: try await bench.find("f").inode)
        await contents.gate.enter()
        try bench.write(handle, "older")
        try await bench.files.flush(handle)
        #expect(contents.snapshot()?.isFrozen == true)
        try bench.write(handle, "newer", at: 0)
        try await bench.close(handle)
        #expect(try bench.journal.entries().entries.count == 1)
        contents.gate.leave()
        await bench.files.afterwork.wait()
        #expect(bench.stored("f") == "newer")
        #expect(bench.store.counts[.insert] == 1)
        #expect(try bench.journal.entries().entries.isEmpty)
    }

    /// As `touch` and then `cp` do it, while many uploads wait for their turn.
    @Test func aCopyByTheBucketTakesThePlaceOfWhatIsNotStoredYet() async throws {
        let bench = bench(objects: [("a", "some text")])
        for _ in 0..<16 { await bench.files.uploadSlots.enter() }
        try await bench.write("f", "")
        let source = try await bench.files.open(
            try await bench.find("a").inode, OpenMode(reads: true, writes: false, truncates: false))
        let target = try await bench.openForWriting("f", truncates: true)
        #expect(try bench.files.copyRange(from: source.handle, at: 0, to: target, at: 0, count: 100) == 9)
        try await bench.close(target)
        #expect(bench.stored("f") == "some text")
        #expect(try bench.journal.entries().entries.isEmpty)
        for _ in 0..<16 { bench.files.uploadSlots.leave() }
        await bench.files.afterwork.wait()
        #expect(bench.stored("f") == "some text")
        #expect(bench.store.counts[.insert] == nil)
    }

    @Test func whatIsClosedJustBeforeAnUploadEndsIsStoredToo() async throws {
        let bench = bench()
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, "older")
        bench.store.holdAnswers(to: .insert)
        let synchronizing = Task { try await bench.files.synchronize(handle) }
        await bench.store.waitUntilAnswersHeld(to: .insert)
        try bench.write(handle, "newer", at: 0)
        try await bench.close(handle)
        bench.store.releaseAnswers(to: .insert)
        try await synchronizing.value
        await bench.files.afterwork.wait()
        #expect(bench.stored("f") == "newer")
        #expect(try bench.journal.entries().entries.isEmpty)
    }

    @Test func whatWasClosedIsStoredAfterAKill() async throws {
        let bench = bench(objects: [("f", "old")])
        bench.failing.fail(.insert, call: nil, with: .unreachable)
        try await bench.write("f", "closed")
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, "OPEN", at: 0)
        let next = try bench.afterKill()
        try await next.recover()
        #expect(next.stored("f") == "closed", "what was closed, whole; not what was written into it later")
        let kept = try #require(try next.files.unsaved?.items().first)
        #expect(kept.entry.state == .open)
        _ = try await next.files.unsaved?.retry(kept.name)
        #expect(next.stored("f") == "OPENed")
    }

    @Test func newerContentTakesThePlaceOfWhatIsNotStoredYet() async throws {
        let bench = bench()
        bench.failing.fail(.insert, call: 1, with: .unreachable)
        try await bench.write("f", "first")
        try await bench.write("f", "second")
        try await bench.write("f", "third")
        #expect(try bench.journal.entries().entries.filter { $0.state == .sealed }.count <= 2)
        await bench.files.afterwork.wait()
        #expect(bench.stored("f") == "third")
        #expect(try bench.journal.entries().entries.isEmpty)
    }

    @Test func aRenameAndARemovalKeepTheirOrder() async throws {
        let bench = bench(objects: [("old", "target")])
        bench.store.hold(.insert)
        try await bench.write("a", "one")
        try await bench.write("b", "two")
        await bench.store.waitUntilHeld(.insert, count: 2)
        async let renamed: Void = bench.rename("a", to: "old")
        async let removed: Void = bench.unlink("b")
        bench.store.release(.insert)
        try await renamed
        try await removed
        await bench.files.afterwork.wait()
        #expect(bench.stored("old") == "one")
        #expect(bench.store.names == [ObjectName("old")])
    }

    @Test func aRenameBeforeTheUploadStoresUnderTheNewNameAlone() async throws {
        let bench = bench(objects: [("target", "old")])
        bench.failing.fail(.insert, call: 1, with: .unreachable)
        try await bench.write("temporary", "new")
        // The first attempt has failed; the next one is a second away.
        while bench.failing.counts[.insert] == nil { await Task.yield() }
        try await bench.rename("temporary", to: "target")
        let next = try bench.afterKill()
        try await next.recover()
        #expect(next.stored("target") == "new")
        #expect(next.stored("temporary") == nil)
        await bench.files.afterwork.wait()
    }

    @Test func timesSetAfterTheCloseAreStoredToo() async throws {
        let bench = bench()
        bench.failing.fail(.insert, call: nil, with: .unreachable)
        try await bench.write("f", "bytes")
        var changes = AttributeChanges()
        changes.modified = .at(Timestamp(seconds: 981_173_106))
        changes.permissions = 0o600
        _ = try await bench.files.setAttributes(of: try await bench.find("f").inode, to: changes, handle: nil)
        let next = try bench.afterKill()
        try await next.recover()
        let attributes = try await next.find("f").attributes
        #expect(attributes.modified == Timestamp(seconds: 981_173_106))
        #expect(attributes.permissions == 0o600)
    }

    @Test func aRefusalIsToldAtTheNextOpenAndTheBytesAreKept() async throws {
        let bench = bench()
        bench.failing.fail(.insert, call: nil, with: .forbidden)
        try await bench.write("f", "bytes")
        await bench.files.afterwork.wait()
        #expect(bench.lines.contains { $0.contains("it is kept") })
        bench.store.put("f", Array("theirs".utf8))
        #expect(await failure { try await bench.openForWriting("f") }?.word == "storage")
        #expect(try await bench.read("f") == "theirs", "told once")
        #expect(try bench.journal.entries().entries.map(\.state) == [.failed])
    }

    @Test func aDeadNetworkAtTheEndLeavesItToTheNextMount() async throws {
        let bench = bench()
        bench.failing.fail(.insert, call: nil, with: .unreachable)
        try await bench.write("f", "bytes")
        #expect(await bench.files.shutDown() == [ObjectName("f")])
        #expect(try bench.journal.entries().entries.map(\.state) == [.sealed])
        let next = try bench.afterKill()
        try await next.recover()
        #expect(next.stored("f") == "bytes")
    }
}
