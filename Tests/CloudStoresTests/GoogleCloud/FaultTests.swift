import BucketServer
import CloudStores
import HTTPTransport
import Locking
import Logging
import ObjectStore
import TestSupport
import Testing

/// The store, the real transport, and a server that goes wrong on request: each call in turn, each fault in turn.
struct FaultTests {
    /// A server of the test's own: its faults hit nobody else.
    final class FaultyServer: Sendable {
        let live: LiveStore
        private let root: String
        private let server: LocalServer
        private let directory = temporaryDirectory()
        private let transport = CurlTransport(log: .silent)

        init(_ configure: (inout GoogleCloudStore.Configuration) -> Void = { _ in }) throws {
            var configuration = LocalServer.Configuration(dataDirectory: directory.path)
            configuration.buckets = ["demo"]
            configuration.maxBytesRewrittenPerCall = 1 << 20
            server = try LocalServer(configuration)
            root = "http://127.0.0.1:\(try server.start())"
            live = try LiveStore(root: root, configure)
        }

        func goesWrong(_ operation: String, _ instruction: String, times: Int = 1, skip: Int = 0) async throws {
            let json =
                #"{"operation":"\#(operation)","instruction":"\#(instruction)","times":\#(times),"skip":\#(skip)}"#
            let answer = try await transport.answer(
                to: HTTPRequest(.post, root + "/_firemount/faults", body: .bytes(Array(json.utf8))), bodyLimit: 10_000)
            #expect(answer.status == 204)
        }
    }

    private static let transient = ["return-503", "return-429", "return-408", "return-reset-connection", "return-502"]

    @Test(arguments: transient)
    func everyCallOutlivesAFault(fault: String) async throws {
        let server = try FaultyServer()
        let (live, store) = (server.live, server.live.store)
        try await server.goesWrong("*", fault)
        let stored = try await store.insert(Upload("a", "hello"))
        try await server.goesWrong("*", fault)
        #expect(try await store.metadata(of: ObjectName("a")) == stored)
        try await server.goesWrong("*", fault)
        #expect(await live.read(ReadRequest(name: ObjectName("a"))).bytes == Array("hello".utf8))
        try await server.goesWrong("*", fault)
        #expect(try await store.list(ListQuery(prefix: ObjectName(""), collapsesFolders: true)).items == [stored])
        try await server.goesWrong("*", fault)
        let patched = try await store.patch(
            ObjectName("a"), MetadataPatch(custom: ["k": .set("v")]),
            if: Precondition(metageneration: Metageneration(1)))
        #expect(patched.headers.custom == ["k": "v"])
        try await server.goesWrong("*", fault)
        let copied = try await store.copy(
            ObjectCopy(source: ObjectName("a"), destination: ObjectName("b"), precondition: .mustNotExist))
        #expect(copied.crc32c == stored.crc32c)
        try await server.goesWrong("*", fault)
        let moved = try await store.move(
            ObjectCopy(
                source: ObjectName("b"), sourceGeneration: copied.objectGeneration, destination: ObjectName("c"),
                precondition: .mustNotExist))
        #expect(moved.name == ObjectName("c"))
        try await server.goesWrong("*", fault)
        let composed = try await store.compose(
            Composition(
                sources: [(ObjectName("a"), nil), (ObjectName("c"), nil)], destination: ObjectName("d"),
                headers: ObjectHeaders(), precondition: .mustNotExist))
        #expect(composed.size == 10)
        try await server.goesWrong("*", fault)
        try await store.delete(ObjectName("a"), if: .mustBe(stored.objectGeneration))
        #expect(await failure(of: try await store.metadata(of: ObjectName("a")))?.kind == .notFound)
    }

    @Test(arguments: [
        "return-503-after-256K", "return-503-after-0K", "return-broken-stream-after-512K", "return-503-at-finalize",
        "return-broken-stream-final-chunk-after-10B", "return-429-after-256K",
    ])
    func uploadsOutliveAFaultInTheirMiddle(fault: String) async throws {
        let server = try FaultyServer { $0.wholeUploadLimit = 100 }
        let bytes = pattern(1_500_001)
        try await server.goesWrong("*", fault)
        let stored = try await server.live.store.insert(Upload("big", bytes))
        #expect(stored.crc32c == checksum(of: bytes))
        #expect(checksum(of: await server.live.read(ReadRequest(name: ObjectName("big"))).bytes) == checksum(of: bytes))
    }

    @Test(arguments: ["return-broken-stream-after-64K", "return-broken-stream", "truncate-body-100000B"])
    func readsOutliveAFaultInTheirMiddle(fault: String) async throws {
        let server = try FaultyServer()
        let bytes = pattern(700_000)
        let stored = try await server.live.put(ObjectName("big"), bytes)
        try await server.goesWrong("storage.objects.media", fault)
        let read = await server.live.read(
            ReadRequest(name: ObjectName("big"), objectGeneration: stored.objectGeneration, offset: 1_000))
        #expect(read.error == nil)
        #expect(checksum(of: read.bytes) == checksum(of: Array(bytes[1_000...])))
    }

    @Test func aSmallDamagedAnswerIsMendedAndALargeOneReported() async throws {
        let server = try FaultyServer()
        try await server.live.put(ObjectName("small"), pattern(50_000))
        try await server.live.put(ObjectName("large"), pattern(500_000))
        try await server.goesWrong("storage.objects.media", "corrupt-body")
        #expect(
            checksum(of: await server.live.read(ReadRequest(name: ObjectName("small"))).bytes)
                == checksum(of: pattern(50_000)))
        try await server.goesWrong("storage.objects.media", "corrupt-body")
        #expect(await server.live.read(ReadRequest(name: ObjectName("large"))).error?.kind == .corrupted)
    }

    @Test func aSuccessWithAnErrorInsideIsNeverBelieved() async throws {
        let server = try FaultyServer()
        try await server.goesWrong("*", "error-body-200", times: -1)
        let store = server.live.store
        #expect(await failure(of: try await store.insert(Upload("a", "hello")))?.kind == .malformedAnswer)
        #expect(await failure(of: try await store.metadata(of: ObjectName("a")))?.kind == .malformedAnswer)
        #expect(await failure(of: try await store.checkBucket())?.kind == .malformedAnswer)
        #expect(await failure(of: try await store.delete(ObjectName("a"), if: .none))?.kind == .malformedAnswer)
        #expect(await server.live.read(ReadRequest(name: ObjectName("a"))).error?.kind == .malformedAnswer)
    }

    @Test(arguments: [(403, .forbidden), (401, .unauthenticated)] as [(Int, StorageError.Kind)])
    func refusalsAtTheEndOfAnUploadAreTold(status: Int, kind: StorageError.Kind) async throws {
        let server = try FaultyServer { $0.wholeUploadLimit = 100 }
        try await server.goesWrong("*", "return-\(status)-at-finalize")
        #expect(await failure(of: try await server.live.store.insert(Upload("big", pattern(300_000))))?.kind == kind)
    }

    @Test func aServerThatStallsIsLeftInTime() async throws {
        let server = try FaultyServer { $0.timeLimit = .seconds(2) }
        try await server.live.put(ObjectName("a"), "hello")
        try await server.goesWrong("storage.objects.media", "stall-for-30s", times: 1)
        let read = await server.live.read(ReadRequest(name: ObjectName("a")))
        #expect(read.bytes == Array("hello".utf8), "the second attempt gets half of the time")
        try await server.goesWrong("storage.objects.get", "stall-for-30s", times: 1)
        let error = await failure(of: try await server.live.store.metadata(of: ObjectName("a")))
        #expect(error == nil || error?.kind == .timedOut)
    }

    @Test func largeCopiesTakeSeveralCalls() async throws {
        let server = try FaultyServer()
        let bytes = pattern(3_500_000)
        try await server.live.put(ObjectName("big"), bytes)
        try await server.goesWrong("storage.objects.rewrite", "return-503", skip: 1)
        let copied = try await server.live.store.copy(
            ObjectCopy(source: ObjectName("big"), destination: ObjectName("copy"), precondition: .mustNotExist))
        #expect(copied.crc32c == checksum(of: bytes))
    }
}
