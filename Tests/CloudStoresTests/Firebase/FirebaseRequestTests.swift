import HTTPTransport
import ObjectStore
import Testing

@testable import CloudStores

struct FirebaseRequestTests {
    typealias Step = ScriptedTransport.Step

    let hello = Array("hello".utf8)

    @Test func metadataIsReadAndTokensAreCustomMetadata() async throws {
        let scripted = try ScriptedFirebase([.json(firebaseResource("a%b/é", hello, tokens: "one,two"))])
        let object = try await scripted.store.metadata(of: ObjectName("a%b/é"))
        #expect(scripted.asked[0].request.url == "http://127.0.0.1:1/v0/b/demo/o/a%25b%2F%C3%A9")
        #expect(object.headers.custom == ["k": "v", "firebaseStorageDownloadTokens": "one,two"])
        #expect(object.headers.contentEncoding == nil)
        #expect(object.crc32c == checksum(of: hello))
        #expect(
            scripted.store.downloadURL(of: object)
                == "http://127.0.0.1:1/v0/b/demo/o/a%25b%2F%C3%A9?alt=media&token=one")
    }

    @Test func withoutATokenThereIsNoDownloadURL() async throws {
        let scripted = try ScriptedFirebase([.json(firebaseResource("x", hello, tokens: ""))])
        let object = try await scripted.store.metadata(of: ObjectName("x"))
        #expect(scripted.store.downloadURL(of: object) == nil)
    }

    @Test func theEmulatorsDecimalChecksumIsUnderstood() async throws {
        let resource = firebaseResource("x", hello).replacing(
            checksum(of: hello).checksumText, with: String(checksum(of: hello)))
        let scripted = try ScriptedFirebase([.json(resource)])
        #expect(try await scripted.store.metadata(of: ObjectName("x")).crc32c == checksum(of: hello))
    }

    @Test func listsTellNames() async throws {
        let page = #"{"prefixes":["d/e/"],"items":[{"name":"d/a","bucket":"demo"}],"nextPageToken":"n"}"#
        let scripted = try ScriptedFirebase([.json(page), .json(#"{"prefixes":[],"items":[]}"#)])
        var query = ListQuery(prefix: ObjectName("d/"), collapsesFolders: true, pageSize: 7)
        let first = try await scripted.store.list(query)
        #expect(first.names == [ObjectName("d/a")])
        #expect(first.items.isEmpty)
        #expect(first.folders == [ObjectName("d/e/")])
        #expect(scripted.asked[0].request.url.hasSuffix("/v0/b/demo/o?prefix=d%2F&delimiter=%2F&maxResults=7"))
        query.pageToken = first.nextPageToken
        query.collapsesFolders = false
        let second = try await scripted.store.list(query)
        #expect(second.names.isEmpty && second.nextPageToken == nil)
        #expect(scripted.asked[1].query("delimiter") == nil)
        #expect(scripted.asked[1].query("pageToken") == "n")
    }

    @Test(arguments: [
        #"{}"#, #"[]"#, #"{"items":[{}]}"#, #"{"error":{"message":"no"}}"#, #"{"items":[{"name":7}]}"#,
        #"{"items":[{"name":"a/b"}]}"#, #"{"items":[],"prefixes":["a"]}"#,
    ])
    func whatIsNoPageIsMalformed(body: String) async throws {
        let scripted = try ScriptedFirebase([.json(body)])
        let query = ListQuery(prefix: ObjectName(""), collapsesFolders: true)
        #expect(await failure(of: try await scripted.store.list(query))?.kind == .malformedAnswer)
    }

    /// PROTOCOL 1.12.
    @Test(
        arguments: [
            (400, .invalidRequest), (401, .unauthenticated), (402, .quotaExceeded), (403, .forbidden), (404, .notFound),
            (412, .forbidden), (413, .tooLarge), (501, .unsupported),
        ] as [(Int, StorageError.Kind)])
    func statusesMeanThis(status: Int, kind: StorageError.Kind) async throws {
        let scripted = try ScriptedFirebase(
            [.json(#"{"error":{"code":\#(status),"message":"why"}}"#, status)])
        let error = await failure(of: try await scripted.store.metadata(of: ObjectName("x")))
        #expect(error?.kind == kind)
        #expect(error?.httpStatus == status)
        #expect(error?.message == "why")
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func whatMayPassIsTriedAgain(status: Int) async throws {
        let scripted = try ScriptedFirebase([.error(status), .json(firebaseResource("x", hello))])
        _ = try await scripted.store.metadata(of: ObjectName("x"))
        #expect(scripted.left == 0)
    }

    @Test func anExpiredTokenIsRefreshedOnce() async throws {
        let scripted = try ScriptedFirebase(
            [.error(401), .json(firebaseResource("x", hello))], credentials: TokenRow(["old", "new"]))
        _ = try await scripted.store.metadata(of: ObjectName("x"))
        #expect(scripted.asked.map { $0.header("Authorization") } == ["Bearer old", "Bearer new"])
    }

    @Test func patchesChangeWhatTheyNameAndNothingElse() async throws {
        let scripted = try ScriptedFirebase([.json(firebaseResource("x", hello, metageneration: 2))])
        var patch = MetadataPatch(custom: ["a": .set("1"), "b": .remove])
        patch.cacheControl = .remove
        _ = try await scripted.store.patch(ObjectName("x"), patch, if: .none)
        let asked = scripted.asked[0]
        #expect(asked.request.method == .patch)
        #expect(asked.text == #"{"cacheControl":null,"metadata":{"a":"1","b":null}}"#)
        #expect(asked.header("Content-Type") == "application/json; charset=UTF-8")
    }

    @Test func changesOfAnotherVersionAreNotMade() async throws {
        let condition = Precondition(object: .mustBe(ObjectGeneration(7)), metageneration: Metageneration(1))
        for other in [firebaseResource("x", hello, generation: 8), firebaseResource("x", hello, metageneration: 2)] {
            let scripted = try ScriptedFirebase([.json(other)])
            let patch = MetadataPatch(custom: ["a": .set("1")])
            let error = await failure(of: try await scripted.store.patch(ObjectName("x"), patch, if: condition))
            #expect(error?.kind == .preconditionFailed)
            #expect(scripted.course == ["GET"])
        }
    }

    @Test func deletingWhatAnotherClientReplacedIsRefused() async throws {
        let scripted = try ScriptedFirebase([.json(firebaseResource("x", hello, generation: 8))])
        let condition = Precondition.mustBe(ObjectGeneration(7))
        let error = await failure(of: try await scripted.store.delete(ObjectName("x"), if: condition))
        #expect(error?.kind == .preconditionFailed)
        #expect(scripted.course == ["GET"])
    }

    @Test func deletingWhatIsGoneIsNotFound() async throws {
        let there = Step.json(firebaseResource("x", hello))
        for script in [[Step.error(404), .error(404)], [there, .error(404), .error(404)]] {
            let scripted = try ScriptedFirebase(script)
            let condition = Precondition.mustBe(ObjectGeneration(7))
            #expect(
                await failure(of: try await scripted.store.delete(ObjectName("x"), if: condition))?.kind == .notFound)
        }
    }

    @Test(arguments: [Step.error(404), .json(#"{"error":{"code":503}}"#)])
    func whatADeleteDidNotDeleteIsDeletedAgain(answer: Step) async throws {
        let scripted = try ScriptedFirebase([answer, .json(firebaseResource("x", hello)), .answer(204)])
        try await scripted.store.delete(ObjectName("x"), if: .none)
        #expect(scripted.course == ["DELETE", "GET", "DELETE"])
    }

    @Test func aDeleteWhoseAnswerWasLostHasHappened() async throws {
        let object = Step.json(firebaseResource("x", hello))
        let scripted = try ScriptedFirebase([object, .failure(.connectionLost), .error(404)])
        try await scripted.store.delete(ObjectName("x"), if: .mustBe(ObjectGeneration(7)))
        #expect(scripted.course == ["GET", "DELETE", "GET"])
    }

    @Test func anotherGenerationIsRefusedBeforeAByteIsDelivered() async throws {
        let scripted = try ScriptedFirebase([range(0..<5, of: hello, generation: 8)])
        let outcome = await scripted.read(
            ReadRequest(name: ObjectName("x"), objectGeneration: ObjectGeneration(7), count: 5))
        #expect(outcome.error?.kind == .generationChanged)
        #expect(outcome.bytes.isEmpty)
        #expect(scripted.asked[0].request.url == "http://127.0.0.1:1/v0/b/demo/o/x?alt=media")
        #expect(scripted.asked[0].header("Accept-Encoding") == "gzip")
    }

    @Test func aShorterObjectInItsPlaceIsAnotherGeneration() async throws {
        let scripted = try ScriptedFirebase([.answer(416, [("content-range", "bytes */5")])])
        let outcome = await scripted.read(
            ReadRequest(name: ObjectName("x"), objectGeneration: ObjectGeneration(7), offset: 100, count: 5))
        #expect(outcome.error?.kind == .generationChanged)
        let unpinned = try ScriptedFirebase([.answer(416, [("content-range", "bytes */5")])])
        let past = await unpinned.read(ReadRequest(name: ObjectName("x"), offset: 100, count: 5))
        #expect(past.error?.kind == .rangeNotSatisfiable)
    }

    @Test func theWholeObjectForARangeIsCut() async throws {
        let scripted = try ScriptedFirebase([whole(hello)])
        let outcome = await scripted.read(ReadRequest(name: ObjectName("x"), offset: 1, count: 3))
        #expect(outcome.bytes == Array("ell".utf8))
    }

    @Test func aReadGoesOnInTheSameGenerationOnly() async throws {
        let object = pattern(400_000)
        let cut = Step.broken(200, mediaHead(of: object), Array(object[..<150_000]), .connectionLost)
        let same = try ScriptedFirebase([cut, range(150_000..<400_000, of: object)])
        #expect(checksum(of: await same.read(ReadRequest(name: ObjectName("x"))).bytes) == checksum(of: object))
        #expect(same.asked[1].header("Range") == "bytes=150000-399999")
        let other = try ScriptedFirebase([cut, range(150_000..<400_000, of: object, generation: 8)])
        let outcome = await other.read(ReadRequest(name: ObjectName("x")))
        #expect(outcome.error?.kind == .generationChanged)
        #expect(outcome.bytes.count == 150_000)
    }

    @Test func anotherPatienceIsACopyOfTheStore() async throws {
        let scripted = try ScriptedFirebase([.error(503), .error(503), .error(503)])
        let error = await failure(
            of: try await scripted.store.with(timeLimit: .milliseconds(100)).metadata(of: ObjectName("x")))
        #expect(error?.kind == .serverFailed)
        #expect(scripted.asked.count == 1)
    }
}
