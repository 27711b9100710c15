import Foundation
import Locking
import ObjectStore
import TestSupport
import Testing

@testable import CloudStorage

struct ListTests {
    private let store = InMemoryStore()
    private let test: TestStorage

    init() {
        test = TestStorage(store)
        for name in ["a", "b/1", "b/2", "b/c/3", "z", "e\u{301}/x", "\u{E9}/x"] { store.put(name) }
    }

    private func bytes(_ references: [StorageReference]) -> [[UInt8]] { references.map { Array($0.fullPath.utf8) } }

    private func bytes(_ names: String...) -> [[UInt8]] { names.map { Array($0.utf8) } }

    @Test func aFolderIsListed() async throws {
        let all = try await test.reference("b").listAll()
        #expect(bytes(all.items) == bytes("b/1", "b/2"))
        #expect(bytes(all.prefixes) == bytes("b/c"))
        #expect(all.pageToken == nil)
    }

    @Test func theRootIsListedWithNamesAsBytes() async throws {
        let all = try await test.storage.reference().listAll()
        #expect(bytes(all.items) == bytes("a", "z"))
        #expect(bytes(all.prefixes) == bytes("b", "e\u{301}", "\u{E9}"))
    }

    @Test func pagesAreFollowedByTheirTokens() async throws {
        let root = test.storage.reference()
        var names: [[UInt8]] = []
        var page = try await root.list(maxResults: 2)
        while true {
            #expect(page.items.count + page.prefixes.count <= 2)
            names += bytes(page.items) + bytes(page.prefixes)
            guard let token = page.pageToken else { break }
            page = try await root.list(maxResults: 2, pageToken: token)
        }
        #expect(Set(names) == Set(bytes("a", "z", "b", "e\u{301}", "\u{E9}")))
        #expect(names.count == 5)
    }

    @Test(arguments: [0, -1, 1_001, Int64.max])
    func moreOrLessThanAPageIsRefused(count: Int64) async throws {
        let error = await #expect(throws: CloudStorage::StorageError.self) {
            try await test.reference("b").list(maxResults: count)
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.localizedDescription == "Argument 'maxResults' must be between 1 and 1000 inclusive.")
        #expect(store.requestCount == 0)
    }

    @Test func listAllTakesAllPages() async throws {
        for number in 0..<2_500 { store.put("many/\(number)") }
        let all = try await test.reference("many").listAll()
        #expect(all.items.count == 2_500)
        #expect(store.counts[.list] == 3)
    }

    /// The list goes on although nobody else holds the reference.
    @Test func completionFormsAnswer() async throws {
        let items = await withCheckedContinuation { continuation in
            test.reference("b").listAll { result, _ in continuation.resume(returning: result?.items.count) }
        }
        #expect(items == 2)
        let first = await withCheckedContinuation { continuation in
            test.reference("b").list(maxResults: 1) { (result: Result<StorageListResult, any Error>) in
                continuation.resume(returning: try? result.get())
            }
        }
        let token = try #require(first?.pageToken)
        let second = await withCheckedContinuation { continuation in
            test.reference("b").list(maxResults: 1, pageToken: token) { result, _ in
                continuation.resume(returning: result?.items.map(\.name))
            }
        }
        #expect(second == ["2"])
    }

    @Test func whatAServiceRepeatsIsNamedOnce() async throws {
        let all = try await TestStorage(RepeatingStore(pages: 3)).reference("x").listAll()
        #expect(all.prefixes.count == 1)
        #expect(all.items.count == 3)
    }

    @Test func aListThatGoesRoundInCirclesEnds() async throws {
        let error = await #expect(throws: CloudStorage::StorageError.self) {
            try await TestStorage(RepeatingStore(pages: nil)).reference("x").listAll()
        }
        #expect(error?.code == .unknown)
    }
}

/// Names every folder on every page, as one emulator does.
private final class RepeatingStore: ObjectStore {
    /// nil: the same page token again and again.
    private let pages: Int?
    private let base = InMemoryStore()

    init(pages: Int?) { self.pages = pages }

    var abilities: StoreAbilities { base.abilities }

    func list(_ query: ListQuery) async throws(ObjectStore::StorageError) -> ListPage {
        let page = query.pageToken.flatMap { Int($0) } ?? 0
        let item = base.put("x/\(page)")
        let next = pages.map { page + 1 < $0 ? "\(page + 1)" : nil } ?? "7"
        return ListPage(items: [item], folders: [ObjectName("x/f/")], nextPageToken: next)
    }

    func metadata(of name: ObjectName) async throws(ObjectStore::StorageError) -> ObjectMetadata {
        try await base.metadata(of: name)
    }
    func read(_ request: ReadRequest, into receiver: any ReadReceiver) -> any StoreTransfer {
        base.read(request, into: receiver)
    }
    func insert(_ upload: Upload) async throws(ObjectStore::StorageError) -> ObjectMetadata {
        try await base.insert(upload)
    }
    func patch(
        _ name: ObjectName, _ patch: MetadataPatch, if precondition: Precondition
    ) async throws(ObjectStore::StorageError) -> ObjectMetadata {
        try await base.patch(name, patch, if: precondition)
    }
    func copy(_ copy: ObjectCopy) async throws(ObjectStore::StorageError) -> ObjectMetadata {
        try await base.copy(copy)
    }
    func move(_ copy: ObjectCopy) async throws(ObjectStore::StorageError) -> ObjectMetadata {
        try await base.move(copy)
    }
    func compose(_ composition: Composition) async throws(ObjectStore::StorageError) -> ObjectMetadata {
        try await base.compose(composition)
    }
    func delete(_ name: ObjectName, if precondition: Precondition) async throws(ObjectStore::StorageError) {
        try await base.delete(name, if: precondition)
    }
}
