import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// The bucket has changed by this mount's own hand, which does not know it yet, and somebody looks: what he is shown
/// must not be taken for another client's doing.
@Suite struct ChangesUnderWayTests {
    private func open(_ path: String, in bench: Bench) async throws -> HandleID {
        let inode = try await bench.find(path).inode
        return try await bench.files.open(inode, OpenMode(reads: true, writes: true, truncates: false)).handle
    }

    private func append(_ text: String, to handle: HandleID, in bench: Bench) async throws {
        let bytes = Array(text.utf8)
        try unsafe bytes.withUnsafeBytes { try unsafe bench.files.write(handle, at: 0, $0, appends: true) }
        try await bench.files.flush(handle)
        bench.files.release(handle)
    }

    @Test func aFileThatIsRenamedWhileItsFolderIsListedStaysOpen() async throws {
        let bench = Bench(objects: [("f", "text"), ("h", "x")])
        let handle = try await open("f", in: bench)
        bench.store.holdAnswers(to: .move)
        let renaming = Task { try await bench.rename("f", to: "g") }
        await bench.store.waitUntilAnswersHeld(to: .move)
        bench.advance(seconds: 61)
        _ = try await bench.list()
        bench.store.releaseAnswers(to: .move)
        try await renaming.value
        try await append("!", to: handle, in: bench)
        #expect(try await bench.list() == ["g", "h"])
        #expect(bench.store.bytes(of: "g") == Array("text!".utf8))
        #expect(bench.store.names == ["g", "h"])
    }

    @Test func aFileThatIsRemovedWhileItsFolderIsListedServesItsHolders() async throws {
        let bench = Bench(objects: [("f", "text"), ("h", "x")])
        let handle = try await open("f", in: bench)
        bench.store.holdAnswers(to: .delete)
        let removing = Task { try await bench.unlink("f") }
        await bench.store.waitUntilAnswersHeld(to: .delete)
        bench.advance(seconds: 61)
        _ = try await bench.list()
        bench.store.releaseAnswers(to: .delete)
        try await removing.value
        #expect(try await bench.read(handle) == "text")
        try await append("!", to: handle, in: bench)
        #expect(bench.store.names == ["h"])
    }

    @Test func aFolderThatWasRenamedIsNotSeenUnderItsOldName() async throws {
        let bench = Bench(objects: [("d/f", "x"), ("h", "x")])
        _ = try await bench.find("d/f")
        bench.store.holdAnswers(to: .copy)
        bench.store.hold(.delete)
        let renaming = Task { try await bench.rename("d", to: "e") }
        await bench.store.waitUntilAnswersHeld(to: .copy)
        bench.store.releaseAnswers(to: .copy)
        await bench.store.waitUntilHeld(.delete)
        bench.advance(seconds: 61)
        #expect(try await bench.list().contains("d"))
        bench.store.release(.delete)
        try await renaming.value
        #expect(try await bench.list().sorted() == ["e", "h"])
    }

    @Test func aListingGoesOnWhileItsFolderIsRenamed() async throws {
        let names = (0..<6).map { "f\($0)" }
        let bench = Bench(objects: names.map { ("d/\($0)", "x") })
        #expect(try await bench.list("d") == names)
        bench.advance(seconds: 61)
        _ = try await bench.find("d")
        bench.store.hold(.copy)
        let renaming = Task { try await bench.rename("d", to: "e") }
        await bench.store.waitUntilHeld(.copy, count: names.count)
        bench.store.hold(.list)
        let listing = Task { try await bench.list("d") }
        await bench.store.waitUntilHeld(.list)
        bench.store.release(.copy)
        // The renaming looks once more for what came late, and by then the old objects are gone.
        await bench.store.waitUntilHeld(.list, count: 2)
        bench.store.release(.list)
        try await renaming.value
        #expect(try await listing.value == names)
        #expect(try await bench.list("e") == names)
        for name in names { #expect(await bench.exists("e/\(name)")) }
    }

    private func benchOfNames() -> Bench {
        let abilities = StoreAbilities(listsMetadata: false, checksPreconditions: true, composes: false)
        return Bench(objects: [("d/f", "x"), ("d/g", "x")], store: InMemoryStore(abilities: abilities))
    }

    /// Where lists tell names alone, each name is asked for by itself.
    @Test func aQuestionDoesNotOutliveTheNameThatItWasAskedBy() async throws {
        let bench = benchOfNames()
        #expect(try await bench.list("d") == ["f", "g"])
        bench.store.hold(.copy)
        let renaming = Task { try await bench.rename("d", to: "e") }
        await bench.store.waitUntilHeld(.copy, count: 2)
        bench.store.hold(.metadata)
        let asking = Task { await bench.exists("d/f") }
        await bench.store.waitUntilHeld(.metadata)
        bench.store.release(.copy)
        // By then the old objects are gone, and the names below stand for the new ones.
        await bench.store.waitUntilHeld(.metadata, count: 2)
        bench.store.release(.metadata)
        try await renaming.value
        _ = await asking.value
        #expect(await bench.exists("e/f"))
        #expect(await bench.exists("e/g"))
    }

    @Test func aFolderIsFoundUnderItsNewNameBeforeTheOldOneIsGone() async throws {
        let bench = benchOfNames()
        #expect(try await bench.list("d") == ["f", "g"])
        bench.store.hold(.delete)
        let renaming = Task { try await bench.rename("d", to: "e") }
        await bench.store.waitUntilHeld(.delete, count: 2)
        #expect(await bench.exists("e/f"))
        bench.store.release(.delete)
        try await renaming.value
        #expect(await bench.exists("e/f"))
        #expect(await bench.exists("e/g"))
        #expect(await !bench.exists("d"))
    }
}
