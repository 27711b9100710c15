import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// A bucket whose lists tell names alone, as Firebase's do.
@Suite struct ListsOfNamesTests {
    private func bench(_ objects: [(String, String)]) -> Bench {
        let abilities = StoreAbilities(listsMetadata: false, checksPreconditions: true, composes: false)
        return Bench(objects: objects, store: InMemoryStore(abilities: abilities))
    }

    private func files(_ count: Int) -> [(String, String)] { (0..<count).map { ("d/f\(1_000 + $0)", "x") } }

    @Test func namesAloneAskForNothingElse() async throws {
        let bench = bench(files(50))
        #expect(try await bench.list("d").count == 50)
        bench.store.resetCounts()
        bench.advance(seconds: 61)
        #expect(try await bench.list("d").count == 50)
        #expect(bench.store.counts[.metadata, default: 0] <= 1, "but for what d itself is: \(bench.store.counts)")
    }

    @Test func oneFileCostsOneQuestion() async throws {
        let bench = bench(files(50))
        _ = try await bench.list("d")
        bench.store.resetCounts()
        #expect(await bench.exists("d/f1020"))
        #expect(bench.store.counts == [.metadata: 1])
        #expect(await bench.exists("d/f1020"))
        #expect(await bench.exists("d/absent") == false)
        #expect(bench.store.counts == [.metadata: 1])
    }

    @Test func whoWalksHasNamesAskedAheadManyAtATime() async throws {
        let bench = bench(files(1_000))
        let names = try await bench.list("d")
        bench.store.resetCounts()
        for name in names.prefix(10) { #expect(await bench.exists("d/\(name)")) }
        bench.store.hold(.metadata)
        let walk = Task { for name in names.dropFirst(10) { #expect(await bench.exists("d/\(name)")) } }
        await bench.store.waitUntilHeld(.metadata, count: 32)
        bench.store.release(.metadata)
        await walk.value
        #expect(bench.store.counts == [.metadata: 1_000], "each once")
    }

    @Test func linksAndFoldersAreWhatTheyAreOnceAskedFor() async throws {
        let bench = bench([("d/f", "x"), ("d/e/g", "x")])
        bench.store.put(
            "d/link", Array("f".utf8), headers: ObjectHeaders(custom: ["goog-reserved-file-is-symlink": "true"]))
        #expect(try await bench.list("d").sorted() == ["e", "f", "link"])
        #expect(try await bench.find("d/link").attributes.kind == .symbolicLink)
        #expect(try await bench.find("d/e").attributes.kind == .directory)
        #expect(try await bench.find("d/f").attributes.size == 1)
    }

    @Test func placeholdersAreFoldersThoughNoListShowsThem() async throws {
        let bench = bench([("e/", ""), ("e/s/", ""), ("f/x", "x")])
        #expect(try await bench.list() == ["e", "f"])
        #expect(try await bench.list("e") == ["s"])
        #expect(try await bench.list("e/s") == [])
        #expect(await failure { try await bench.removeDirectory("e") }?.word == "directoryNotEmpty")
        try await bench.removeDirectory("e/s")
        try await bench.removeDirectory("e")
        #expect(bench.store.names == ["f/x"])
    }

    @Test func aFolderKeepsItsTimesAndStaysWhenItsLastFileGoes() async throws {
        let bench = bench([("d/f", "x")])
        _ = try await bench.list("d")
        try await bench.unlink("d/f")
        #expect(bench.store.names == ["d/"])
        bench.advance(seconds: 61)
        #expect(try await bench.list() == ["d"])
        try await bench.removeDirectory("d")
        #expect(bench.store.names == [])
    }

    @Test func othersChangesShowAfterTheTTL() async throws {
        let bench = bench([("d/f", "x"), ("d/g", "x"), ("d/e/x", "x")])
        #expect(try await bench.read("d/f") == "x")
        bench.store.put("d/f", Array("new".utf8))
        bench.store.remove("d/g")
        bench.store.remove("d/e/x")
        bench.advance(seconds: 61)
        #expect(try await bench.read("d/f") == "new")
        #expect(await bench.exists("d/g") == false)
        #expect(try await bench.list("d") == ["f"])
        #expect(await bench.exists("d/e") == false)
    }

    @Test func aFileThatBecameAFolderIsOne() async throws {
        let bench = bench([("d/n", "x")])
        #expect(try await bench.find("d/n").attributes.kind == .file)
        bench.store.remove("d/n")
        bench.store.put("d/n/x", [1])
        bench.advance(seconds: 61)
        #expect(try await bench.list("d") == ["n"])
        #expect(try await bench.find("d/n").attributes.kind == .directory)
    }

    @Test func renamingAFolderTakesItsPlaceholdersAlong() async throws {
        let bench = bench([("d/", ""), ("d/f", "x"), ("d/e/", ""), ("d/s/t/u", "y")])
        try await bench.rename("d", to: "n")
        #expect(bench.store.names == ["n/", "n/e/", "n/f", "n/s/t/u"])
        #expect(try await bench.read("n/s/t/u") == "y")
    }

    @Test func theMountsOwnFolderIsNotShown() async throws {
        let bench = bench([("f", "x"), (".firemount/moves/x", "y"), ("d/.firemount/z", "x")])
        #expect(try await bench.list() == ["f", "d"])
        #expect(try await bench.list("d") == [".firemount"])
    }

    @Test func aFolderBesideAFileHasAnotherName() async throws {
        let bench = bench([("n", "file"), ("n/x", "below")])
        #expect(try await bench.list().count == 2)
        #expect(try await bench.read("n") == "file")
        #expect(try await bench.read("n\u{FF05}2F/x") == "below")
    }

    @Test func aFolderThatMayNotBeListedIsWalkedThroughByName() async throws {
        let bench = bench([("users/", ""), ("users/me/", ""), ("users/me/f", "x")])
        bench.failing.fail(.list, call: nil, with: .forbidden)
        #expect(try await bench.read("users/me/f") == "x")
        #expect(await bench.exists("users/me/absent") == false)
        #expect(await failure { try await bench.list("users/me") }?.word == "storage")
    }

    @Test func whatMayNotBeAskedAboutIsNotAbsent() async throws {
        let bench = bench([("d/f", "x")])
        _ = try await bench.list("d")
        bench.advance(seconds: 6)
        bench.failing.fail(.metadata, call: nil, with: .forbidden)
        bench.failing.fail(.list, call: nil, with: .forbidden)
        for name in ["d/f", "other"] {
            guard case .storage(let error)? = await failure(of: { _ = try await bench.find(name) }) else {
                Issue.record("\(name) should be forbidden")
                continue
            }
            #expect(error.kind == .forbidden)
        }
    }
}
