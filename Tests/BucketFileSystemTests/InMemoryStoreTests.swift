import ObjectStore
import TestSupport
import Testing

/// The store under all other tests keeps the rules of a bucket.
struct InMemoryStoreTests {
    private let store = InMemoryStore()

    @Test func listPagesCountItemsAndFoldersTogetherInByteOrder() async throws {
        for name in ["a/1", "a/2", "a.", "b", "c/", "d/x/y"] { store.put(name) }
        var seen: [String] = []
        var sizes: [Int] = []
        var token: String?
        repeat {
            let page = try await store.list(
                ListQuery(prefix: ObjectName(""), collapsesFolders: true, pageSize: 2, pageToken: token))
            seen += (page.items.map(\.name) + page.folders).sorted().map(\.description)
            sizes.append(page.items.count + page.folders.count)
            token = page.nextPageToken
        } while token != nil
        #expect(seen == ["a.", "a/", "b", "c/", "c/", "d/"])
        #expect(sizes == [2, 3, 1])
    }

    @Test func listOfAFolderShowsItsPlaceholderAsAnItem() async throws {
        for name in ["c/", "c/1", "c/s/2", "d"] { store.put(name) }
        let page = try await store.list(ListQuery(prefix: ObjectName("c/"), collapsesFolders: true))
        #expect(page.items.map(\.name.description) == ["c/", "c/1"])
        #expect(page.folders.map(\.description) == ["c/s/"])
        #expect(page.nextPageToken == nil)
    }

    @Test func preconditionsDecideAboutDeletes() async throws {
        let first = store.put("a", [1])
        let second = store.put("a", [2])
        await #expect(throws: StorageError.self) {
            try await store.delete(first.name, if: .mustBe(first.objectGeneration))
        }
        try await store.delete(first.name, if: .mustBe(second.objectGeneration))
        #expect(store.names.isEmpty)
        #expect(store.counts == [.delete: 2])
    }

    @Test func patchMergesAndRaisesTheMetagenerationOnly() async throws {
        let before = store.put(
            "a", [1], headers: ObjectHeaders(contentType: "text/plain", custom: ["k": "v", "l": "w"]))
        let after = try await store.patch(
            before.name, MetadataPatch(custom: ["k": .remove, "m": .set("x")]),
            if: Precondition(metageneration: Metageneration(1)))
        #expect(after.headers == ObjectHeaders(contentType: "text/plain", custom: ["l": "w", "m": "x"]))
        #expect(after.objectGeneration == before.objectGeneration)
        #expect(after.metageneration == Metageneration(2))
    }

    @Test func composeJoinsInOrderAndMoveTakesTheSourceAway() async throws {
        store.put("a", [1])
        store.put("b", [2, 3])
        let joined = try await store.compose(
            Composition(
                sources: [(ObjectName("b"), nil), (ObjectName("a"), nil)], destination: ObjectName("a"),
                headers: ObjectHeaders(), precondition: .none))
        #expect(joined.componentCount == 2)
        _ = try await store.move(ObjectCopy(source: ObjectName("a"), destination: ObjectName("c")))
        #expect(store.bytes(of: ObjectName("c")) == [2, 3, 1])
        #expect(store.names.map(\.description) == ["b", "c"])
    }

    @Test func aReadDeliversItsRangeInPieces() async throws {
        let store = InMemoryStore(pieceSize: 3)
        let metadata = store.put("a", Array(0..<10))
        let read = await Self.read(ReadRequest(name: metadata.name, offset: 2, count: 7), from: store)
        #expect(read.head?.count == 7)
        #expect(read.head?.objectSize == 10)
        #expect(read.bytes == Array(2..<9))
        #expect(read.pieces == 3)
        #expect(read.error == nil)
    }

    @Test func aReadOfAnotherGenerationFailsBeforeAnyByte() async throws {
        let old = store.put("a", [1])
        store.put("a", [2])
        let read = await Self.read(
            ReadRequest(name: old.name, objectGeneration: old.objectGeneration), from: store)
        #expect(read.error?.kind == .generationChanged)
        #expect(read.head == nil)
    }

    @Test func heldRequestsWaitAndCanBeCancelled() async throws {
        let metadata = store.put("a", [1])
        store.hold(.metadata)
        let first = Task { try await store.metadata(of: metadata.name) }
        await store.waitUntilHeld(.metadata)
        let second = Task { try await store.metadata(of: metadata.name) }
        await store.waitUntilHeld(.metadata, count: 2)
        second.cancel()
        await #expect(throws: StorageError.self) { try await second.value }
        store.release(.metadata)
        #expect(try await first.value == metadata)
    }

    @Test func failuresComeOnCueBeforeOrAfterTheEffect() async throws {
        let failing = FailingStore(store)
        store.put("a", [1])
        store.put("b", [1])
        failing.fail(.delete, call: 1, .beforeEffect, with: .serverFailed)
        failing.fail(.delete, call: 2, .afterEffect, with: .unreachable)
        for name in ["a", "b"] {
            await #expect(throws: StorageError.self) { try await failing.delete(ObjectName(name), if: .none) }
        }
        #expect(store.names.map(\.description) == ["a"])
        failing.fail(.read, call: nil, .afterBytes(2), with: .unreachable)
        store.put("c", [1, 2, 3])
        let read = await Self.read(ReadRequest(name: ObjectName("c")), from: failing)
        #expect(read.bytes == [1, 2])
        #expect(read.error?.kind == .unreachable)
    }

    private static func read(_ request: ReadRequest, from store: any ObjectStore) async -> CollectedRead.Outcome {
        let collected = CollectedRead()
        store.read(request, into: collected)
        return await collected.outcome()
    }
}
