import BucketServer
import CloudStores
import HTTPTransport
import Logging
import ObjectStore
import TestSupport
import Testing

/// The store against real servers.
struct ServerTests {
    @Test(arguments: TestServer.available, [0, 1, 5, 70_000, 3 << 20])
    func whatIsInsertedIsReadBack(server: TestServer, size: Int) async throws {
        let live = try LiveStore(server)
        let store = live.store
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        let name = live.name("a b+c%2Fd/é.txt")
        var headers = ObjectHeaders(contentType: "text/plain", cacheControl: "no-cache")
        headers.custom = ["gcsfuse_mtime": "2026-01-01T00:00:00.5Z", "quote": "\"\\\n"]
        let stored = try await store.insert(
            Upload(name: name, headers: headers, precondition: .none, source: BytesSource(bytes)))
        #expect(stored.size == Int64(size))
        #expect(stored.crc32c == checksum(of: bytes))
        #expect(stored.headers.contentType == "text/plain")
        #expect(stored.headers.custom["gcsfuse_mtime"] == "2026-01-01T00:00:00.5Z")
        #expect(stored.headers.custom["quote"] == "\"\\\n")
        let read = await live.read(ReadRequest(name: name))
        #expect(read.error == nil)
        #expect(checksum(of: read.bytes) == checksum(of: bytes))
        #expect(read.head?.objectGeneration == stored.objectGeneration)
        let metadata = try await store.metadata(of: name)
        #expect(metadata.objectGeneration == stored.objectGeneration)
    }

    @Test(arguments: TestServer.available, [nil, 262_144] as [Int64?])
    func largeUploadsTravelInASession(server: TestServer, chunkSize: Int64?) async throws {
        let live = try LiveStore(server) { configuration in
            configuration.wholeUploadLimit = 1_000
            configuration.chunkSize = chunkSize
        }
        let bytes = (0..<1_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 7) }
        let name = live.name("big")
        let stored = try await live.store.insert(
            Upload(name: name, headers: ObjectHeaders(), precondition: .mustNotExist, source: BytesSource(bytes)))
        #expect(stored.size == 1_000_001)
        let read = await live.read(ReadRequest(name: name))
        #expect(checksum(of: read.bytes) == checksum(of: bytes))
    }

    @Test(arguments: TestServer.available)
    func rangesAreCut(server: TestServer) async throws {
        let live = try LiveStore(server)
        let name = live.name("digits")
        try await live.put(name, "0123456789")
        let middle = await live.read(ReadRequest(name: name, offset: 2, count: 3))
        #expect(middle.bytes == Array("234".utf8))
        #expect(middle.head?.objectSize == 10)
        let end = await live.read(ReadRequest(name: name, offset: 8, count: 30))
        #expect(end.bytes == Array("89".utf8))
        let past = await live.read(ReadRequest(name: name, offset: 10, count: 3))
        #expect(past.error?.kind == .rangeNotSatisfiable)
    }

    @Test(arguments: TestServer.available)
    func aRangeOfAnEmptyObjectIsEmpty(server: TestServer) async throws {
        let live = try LiveStore(server)
        let name = live.name("empty")
        let stored = try await live.put(name, "")
        let read = await live.read(ReadRequest(name: name, offset: 0, count: 100))
        #expect(read.error == nil)
        #expect(read.bytes.isEmpty)
        #expect(read.head?.objectGeneration == stored.objectGeneration)
    }

    @Test(arguments: TestServer.available)
    func aReadOfAnotherGenerationFails(server: TestServer) async throws {
        let live = try LiveStore(server)
        let store = live.store
        let name = live.name("pinned")
        let old = try await live.put(name, "old")
        try await store.delete(name, if: .none)
        try await live.put(name, "new")
        let read = await live.read(ReadRequest(name: name, objectGeneration: old.objectGeneration))
        #expect(read.error?.kind == .notFound || read.error?.kind == .generationChanged)
        #expect(read.bytes.isEmpty)
    }

    @Test(arguments: TestServer.available)
    func missingObjectsAreNotFound(server: TestServer) async throws {
        let live = try LiveStore(server)
        let store = live.store
        let name = live.name("missing")
        #expect(
            await failure(of: try await store.metadata(of: name))?.kind == .notFound)
        #expect(
            await failure(of: try await store.delete(name, if: .none))?.kind
                == .notFound)
        #expect(await live.read(ReadRequest(name: name)).error?.kind == .notFound)
        let move = ObjectCopy(source: name, destination: live.name("elsewhere"))
        #expect(await failure(of: try await store.move(move))?.kind == .notFound)
        #expect(await failure(of: try await store.copy(move))?.kind == .notFound)
    }

    @Test(arguments: TestServer.available)
    func listsArePagedAndFoldersCollapse(server: TestServer) async throws {
        let live = try LiveStore(server)
        let store = live.store
        for name in ["d/", "d/a", "d/b", "d/sub/x", "d/sub/y", "d/z"] { try await live.put(live.name(name), name) }
        var names: [String] = []
        var folders: [String] = []
        var token: String?
        repeat {
            let page = try await store.list(
                ListQuery(prefix: live.name("d/"), collapsesFolders: true, pageSize: 2, pageToken: token))
            names += page.items.map { $0.name.description.replacing(live.folder, with: "") }
            folders += page.folders.map { $0.description.replacing(live.folder, with: "") }
            token = page.nextPageToken
        } while token != nil
        #expect(names.sorted() == ["d/", "d/a", "d/b", "d/z"])
        #expect(Set(folders) == ["d/sub/"])
        let empty = try await store.list(ListQuery(prefix: live.name("nothing/"), collapsesFolders: true))
        #expect(empty.items.isEmpty && empty.folders.isEmpty && empty.nextPageToken == nil)
    }

    @Test(arguments: TestServer.available)
    func aPatchSetsAndRemoves(server: TestServer) async throws {
        let live = try LiveStore(server)
        let store = live.store
        let name = live.name("patched")
        var headers = ObjectHeaders(contentType: "text/plain", cacheControl: "no-cache")
        headers.custom = ["stay": "1", "go": "2"]
        _ = try await store.insert(
            Upload(name: name, headers: headers, precondition: .none, source: BytesSource([1])))
        var patch = MetadataPatch(custom: ["go": .remove, "new": .set("3")])
        patch.contentType = .set("image/png")
        let patched = try await store.patch(name, patch, if: .none)
        #expect(patched.headers.contentType == "image/png")
        #expect(patched.headers.cacheControl == "no-cache")
        #expect(patched.headers.custom["stay"] == "1")
        #expect(patched.headers.custom["new"] == "3")
    }

    @Test(arguments: TestServer.available)
    func copiesMovesAndCompositionsKeepBytes(server: TestServer) async throws {
        let live = try LiveStore(server)
        let store = live.store
        let (a, b, c, joined) = (live.name("a"), live.name("b/x y"), live.name("c"), live.name("joined"))
        let original = try await live.put(a, "hello ")
        let copied = try await store.copy(
            ObjectCopy(
                source: a, sourceGeneration: original.objectGeneration, destination: b, precondition: .mustNotExist))
        #expect(copied.name == b && copied.crc32c == original.crc32c)
        #expect(copied.headers.contentType == "text/plain")
        let retyped = try await store.copy(
            ObjectCopy(source: a, destination: b, headers: ObjectHeaders(contentType: "image/png", custom: ["k": "v"])))
        #expect(retyped.headers.contentType == "image/png")
        #expect(retyped.headers.custom["k"] == "v")
        let moved = try await store.move(ObjectCopy(source: b, destination: c, precondition: .mustNotExist))
        #expect(moved.name == c)
        #expect(await failure(of: try await store.metadata(of: b))?.kind == .notFound)
        let composed = try await store.compose(
            Composition(
                sources: [(a, nil), (c, nil)], destination: joined, headers: ObjectHeaders(contentType: "text/x"),
                precondition: .none))
        #expect(composed.size == 12)
        #expect(await live.read(ReadRequest(name: joined)).bytes == Array("hello hello ".utf8))
    }

    @Test(arguments: TestServer.available)
    func bucketsAreTold(server: TestServer) async throws {
        let live = try LiveStore(server)
        let store = live.store
        try await store.checkBucket()
        let other = try LiveStore(server, bucket: "no-such-bucket-\(UInt32.random(in: 0...UInt32.max))")
        let error = await failure(of: try await other.store.checkBucket())
        #expect(error?.kind == .notFound)
        #expect(error?.message.contains("no-such-bucket") == true)
    }
}
