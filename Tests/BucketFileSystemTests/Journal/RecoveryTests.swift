import FoundationEssentials
import Glibc
import Locking
import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// What a mount has acknowledged survives its sudden end.
struct RecoveryTests {
    private func items(_ bench: Bench) throws -> [Recovery.Item] { try #require(bench.files.unsaved).items() }

    /// Does `body`, whose upload does not arrive (or its answer does not); what is on the disk then is what a kill
    /// leaves.
    private func killDuringUpload(
        _ bench: Bench, _ moment: FailingStore<InMemoryStore>.Moment = .beforeEffect,
        damage: (_ directory: String) throws -> Void = { _ in }, _ body: () async throws -> HandleID
    ) async throws -> Bench {
        let handle = try await body()
        bench.failing.fail(.insert, call: nil, moment, with: .unreachable)
        #expect(await failure { try await bench.files.flush(handle) } != nil)
        return try bench.afterKill(damage)
    }

    private func changed(_ bench: Bench, _ path: String, _ text: String) async throws -> HandleID {
        let handle = try await bench.openForWriting(path, truncates: true)
        try bench.write(handle, text)
        return handle
    }

    @Test func whatWasClosingIsStoredByTheNextMount() async throws {
        let bench = Bench(objects: [("f", "old")])
        let next = try await killDuringUpload(bench) { try await changed(bench, "f", "changed") }
        #expect(bench.stored("f") == "old")
        try await next.recover()
        #expect(next.stored("f") == "changed")
        #expect(try items(next).isEmpty)
        #expect(try await next.read("f") == "changed")
    }

    @Test func aFileThatWasOpenIsKeptAndNotStoredOverTheOldOne() async throws {
        let bench = Bench(objects: [("f", "old version")])
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, "new", at: 0)
        let next = try bench.afterKill()
        try await next.recover()
        #expect(next.stored("f") == "old version")
        let item = try #require(try items(next).first)
        #expect(item.entry.state == .open)
        #expect(next.lines.contains { $0.contains("was open and changed") })

        let name = try await next.files.unsaved?.retry(item.name)

        #expect(name == ObjectName("f"))
        #expect(next.stored("f") == "new version", "what was not written came of the old version")
        #expect(try items(next).isEmpty)
    }

    @Test func whatShowsOfTheOldVersionIsNotTakenFromDamagedBytes() async throws {
        let old = String(repeating: "old version ", count: 100)
        let bench = Bench(objects: [("f", old)])
        let handle = try await bench.openForWriting("f")
        try bench.write(handle, "new", at: 0)
        try bench.write(handle, "new", at: 600)
        let next = try bench.afterKill()
        try await next.recover()
        let recovery = try #require(next.files.unsaved)
        let name = try #require(try items(next).first).name
        // Each of the two parts of a read that comes again is damaged.
        next.damaging.damages(2)
        let read = { () async throws -> String in
            let text = Lock("")
            try unsafe await recovery.export(name) { piece in
                text.withLock { unsafe $0 += String(decoding: piece, as: UTF8.self) }
            }
            return text.withLock { $0 }
        }
        await #expect(throws: FileSystemError.self) { _ = try await read() }
        next.damaging.damages(1)
        #expect(try await read() == "new" + old.dropFirst(3).prefix(597) + "new" + old.dropFirst(603))
    }

    @Test func aNewerVersionInTheBucketStaysAndOursIsListed() async throws {
        let bench = Bench(objects: [("f", "old")])
        let next = try await killDuringUpload(bench) { try await changed(bench, "f", "ours") }
        bench.store.put("f", Array("theirs".utf8))
        try await next.recover()
        #expect(next.stored("f") == "theirs")
        let item = try #require(try items(next).first)
        #expect(item.entry.state == .conflict)

        try await next.files.unsaved?.store(item.name, as: ObjectName("f.mine"))

        #expect(next.stored("f.mine") == "ours")
        #expect(next.stored("f") == "theirs")
        #expect(try items(next).isEmpty)
    }

    @Test func whatTheBucketHasAlreadyIsNoConflict() async throws {
        let bench = Bench(objects: [("f", "old")])
        let next = try await killDuringUpload(bench, .afterEffect) { try await changed(bench, "f", "new") }
        try await next.recover()
        #expect(try items(next).isEmpty)
        #expect(next.stored("f") == "new")
    }

    @Test func anotherClientsMetadataIsMerged() async throws {
        let bench = Bench(objects: [("f", "old")])
        let next = try await killDuringUpload(bench) { try await changed(bench, "f", "new") }
        var patch = MetadataPatch(custom: ["theirs": .set("1")])
        patch.cacheControl = .set("no-store")
        bench.store.change(ObjectName("f"), patch)
        try await next.recover()
        #expect(next.stored("f") == "new")
        let headers = try #require(bench.store.object(ObjectName("f"))).headers
        #expect(headers.cacheControl == "no-store")
        #expect(headers.custom["theirs"] == "1")
        #expect(headers.custom["goog-reserved-file-mtime"] != nil)
    }

    enum Damage: CaseIterable, Sendable { case short, changed, missing }

    @Test(arguments: Damage.allCases)
    func aDamagedStagingFileIsNeverStored(damage: Damage) async throws {
        let bench = Bench(objects: [("f", "old")])
        let tear = { (directory: String) in
            let files = try FileManager.default.contentsOfDirectory(atPath: directory)
            for file in files where file.hasPrefix("staged-") {
                let path = "\(directory)/\(file)"
                switch damage {
                case .short: #expect(unsafe truncate(path, 3) == 0)
                case .changed: try Data("neX bytes".utf8).write(to: URL(filePath: path))
                case .missing: try FileManager.default.removeItem(atPath: path)
                }
            }
        }
        let next = try await killDuringUpload(bench, damage: tear) { try await changed(bench, "f", "new bytes") }
        try await next.recover()
        #expect(next.stored("f") == "old")
        let item = try #require(try items(next).first)
        #expect(item.entry.state == .failed)
        #expect(item.entry.message?.contains("staged-") == true)
    }

    @Test func aRenamedFileIsStoredUnderItsNewName() async throws {
        let bench = Bench()
        let handle = try await bench.openForWriting("a")
        try bench.write(handle, "bytes")
        try await bench.rename("a", to: "b")
        let next = try await killDuringUpload(bench) { handle }
        try await next.recover()
        #expect(next.stored("b") == "bytes")
        #expect(next.stored("a") == nil)
    }

    @Test func aRemovedFileLeavesNothing() async throws {
        let bench = Bench()
        let handle = try await bench.openForWriting("a")
        try bench.write(handle, "bytes")
        try await bench.unlink("a")
        try bench.write(handle, "more", at: 5)
        let next = try bench.afterKill()
        try await next.recover()
        #expect(try items(next).isEmpty)
    }

    @Test func theNextMountGoesOnUntilTheNetworkIsBack() async throws {
        let bench = Bench()
        let next = try await killDuringUpload(bench) { try await changed(bench, "f", "bytes") }
        next.failing.fail(.insert, with: .unreachable)
        try await next.recover()
        #expect(next.failing.counts[.insert] == 2)
        #expect(next.stored("f") == "bytes")
    }
}
