import CloudStores
import ObjectStore
import TestSupport
import Testing

@Suite struct FoldersTests {
    @Test func aHierarchicalBucketRenamesAFolderAsOne() async throws {
        let live = try LiveStore(.own, bucket: "tree")
        let before = try await live.put(live.name("d/a"), "text")
        try await live.put(live.name("d/e/b"), "more")
        #expect(try await live.store.moveFolder(live.name("d/"), to: live.name("f/")))
        let page = try await live.store.list(ListQuery(prefix: live.name(""), collapsesFolders: false))
        #expect(page.items.map(\.name) == [live.name("f/a"), live.name("f/e/b")])
        #expect(page.items.first?.objectGeneration == before.objectGeneration)
    }

    @Test func anEmptyFolderIsListedAndRemoved() async throws {
        let live = try LiveStore(.own, bucket: "tree")
        let object = try await live.put(live.name("d/a"), "text")
        try await live.store.delete(object.name, if: .mustBe(object.objectGeneration))
        let query = ListQuery(prefix: live.name(""), collapsesFolders: true)
        #expect(try await live.store.list(query).folders == [live.name("d/")])
        try await live.store.removeFolder(live.name("d/"))
        #expect(try await live.store.list(query).folders.isEmpty)
        try await live.store.removeFolder(live.name("d/"))
    }

    @Test(arguments: TestServer.available)
    func aFlatBucketHasNoFoldersToRename(server: TestServer) async throws {
        let live = try LiveStore(server)
        try await live.put(live.name("d/a"), "text")
        #expect(try await live.store.moveFolder(live.name("d/"), to: live.name("f/")) == false)
        try await live.store.removeFolder(live.name("d/"))
        #expect(try await live.store.metadata(of: live.name("d/a")).size == 4)
    }
}
