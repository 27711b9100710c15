import HTTPTransport
import ObjectStore
import Testing

@testable import CloudStores

struct FirebaseUploadTests {
    typealias Step = ScriptedTransport.Step

    let bytes = pattern(600_000)
    private var done: Step { .session(200, "final", firebaseResource("x", bytes, generation: 8)) }

    private func upload(_ precondition: Precondition = .none) -> Upload { Upload("x", bytes, if: precondition) }

    private func store(_ script: [Step], chunkSize: Int64? = 262_144) throws -> ScriptedFirebase {
        try ScriptedFirebase(script) { $0.chunkSize = chunkSize }
    }

    @Test func aSmallObjectTravelsInOneRequest() async throws {
        let scripted = try store([.json(firebaseResource("a b/c", Array("hello".utf8)))])
        let stored = try await scripted.store.insert(Upload("a b/c", "hello", if: .none))
        #expect(stored.headers.downloadTokens == "t1")
        #expect(stored.headers.contentEncoding == nil, "identity says that there is none")
        let asked = scripted.asked[0]
        #expect(asked.request.url == "http://127.0.0.1:1/v0/b/demo/o?name=a%20b%2Fc")
        #expect(asked.header("X-Goog-Upload-Protocol") == "multipart")
        #expect(asked.header("Authorization") == "Firebase t")
        #expect(asked.header("X-Firebase-Storage-Version")?.hasPrefix("swift-linux/") == true)
        #expect(asked.text.contains(#""contentType":"text/plain""#))
        #expect(asked.text.contains("\r\n\r\nhello\r\n--"))
    }

    @Test func tokensTravelInTheMetadata() async throws {
        let scripted = try store([.json(firebaseResource("x", [], tokens: "a,b"))])
        var upload = Upload("x", [], if: .none)
        upload.headers.downloadTokens = "a,b"
        _ = try await scripted.store.insert(upload)
        #expect(scripted.asked[0].text.contains(#""metadata":{"firebaseStorageDownloadTokens":"a,b"}"#))
    }

    @Test func aSessionIsOpenedAndFilledChunkByChunk() async throws {
        let scripted = try store([.opened, .session(200, "active"), .session(200, "active"), done])
        let stored = try await scripted.store.insert(upload())
        #expect(stored.objectGeneration == ObjectGeneration(8))
        #expect(
            scripted.course == [
                "POST start", "POST upload 0", "POST upload 262144", "POST upload, finalize 524288",
            ])
        let start = scripted.asked[0]
        #expect(start.request.url == "http://127.0.0.1:1/v0/b/demo/o/x?uploadType=resumable&name=x")
        #expect(start.header("X-Goog-Upload-Header-Content-Length") == "600000")
        #expect(start.header("X-Goog-Upload-Header-Content-Type") == "text/plain")
        #expect(start.header("Authorization") == "Firebase t")
        for asked in scripted.asked.dropFirst() {
            #expect(asked.request.url == "http://127.0.0.1:1/session?upload_id=7")
            #expect(asked.header("Authorization") == nil, "the session's address is enough")
        }
        #expect(checksum(of: scripted.asked.dropFirst().flatMap(\.body)) == checksum(of: bytes))
    }

    @Test func chunksAreWhatTheServerTakes() async throws {
        let opened = Step.answer(
            200, [("x-goog-upload-url", "/session?upload_id=7"), ("x-goog-upload-chunk-granularity", "10000")])
        let scripted = try store([opened, .session(200, "active"), done], chunkSize: 305_000)
        _ = try await scripted.store.insert(upload())
        #expect(scripted.course == ["POST start", "POST upload 0", "POST upload, finalize 300000"])
    }

    @Test(
        arguments: [
            .takes(100_000, .connectionLost), .takes(10, .timedOut), .session(503, nil), .session(429, nil),
            .session(409, "active"), .session(400, "active"), .session(408, nil),
        ] as [ScriptedTransport.Step])
    func afterAnInterruptionTheServerIsAskedFirst(step: ScriptedTransport.Step) async throws {
        let scripted = try store(
            [.opened, step, .session(200, "active", received: 262_144), .session(200, "active"), done])
        _ = try await scripted.store.insert(upload())
        #expect(
            scripted.course == [
                "POST start", "POST upload 0", "POST query", "POST upload 262144", "POST upload, finalize 524288",
            ])
        #expect(scripted.clock.pauses.count == 1)
    }

    @Test(arguments: [Step.session(404, nil), .session(410, nil), .session(400, "cancelled")])
    func aSessionThatIsGoneIsOpenedAnew(step: ScriptedTransport.Step) async throws {
        let scripted = try store([.opened, step, .opened, done], chunkSize: nil)
        _ = try await scripted.store.insert(upload())
        #expect(
            scripted.course == [
                "POST start", "POST upload, finalize 0", "POST start", "POST upload, finalize 0",
            ])
    }

    @Test func anAnswerWithoutTheObjectIsCompletedByAsking() async throws {
        let metadata = Step.json(firebaseResource("x", bytes))
        let scripted = try store([.opened, .session(200, "final", received: 600_000, "OK"), metadata], chunkSize: nil)
        #expect(try await scripted.store.insert(upload()).size == 600_000)
        #expect(scripted.course.last == "GET")
    }

    @Test func theRulesRefusalAtTheEndIsFinal() async throws {
        let refusal = Step.session(
            403, "final", #"{"error":{"code":403,"message":"Permission denied. No WRITE permission."}}"#)
        let scripted = try store([.opened, refusal], chunkSize: nil)
        let error = await failure(of: try await scripted.store.insert(upload()))
        #expect(error?.kind == .forbidden)
        #expect(error?.message == "Permission denied. No WRITE permission.")
        #expect(scripted.course == ["POST start", "POST upload, finalize 0"])
    }

    @Test func aFinishedSessionTellsWhatBecameOfIt() async throws {
        let scripted = try store([.opened, .session(400, "final"), done], chunkSize: nil)
        #expect(try await scripted.store.insert(upload()).objectGeneration == ObjectGeneration(8))
        #expect(scripted.course.last == "POST query")
    }

    @Test func theGenerationIsCheckedJustBeforeTheEnd() async throws {
        let old = Step.json(firebaseResource("x", [1], generation: 3))
        let scripted = try store([.opened, .session(200, "active"), .session(200, "active"), old, done])
        _ = try await scripted.store.insert(upload(.mustBe(ObjectGeneration(3))))
        #expect(scripted.course.suffix(2) == ["GET", "POST upload, finalize 524288"])
    }

    @Test func aConflictEndsTheSessionAndStoresNothing() async throws {
        let other = Step.json(firebaseResource("x", [1], generation: 4))
        let scripted = try store([.opened, other, .session(200, "cancelled")], chunkSize: nil)
        let error = await failure(of: try await scripted.store.insert(upload(.mustBe(ObjectGeneration(3)))))
        #expect(error?.kind == .preconditionFailed)
        #expect(scripted.course == ["POST start", "GET", "POST cancel"])
    }

    @Test func aNewObjectMustNotBeThereYet() async throws {
        let small = Upload("x", "hello", if: .mustNotExist)
        let free = try store([.error(404), .json(firebaseResource("x", Array("hello".utf8)))])
        _ = try await free.store.insert(small)
        #expect(free.course == ["GET", "POST"])
        let taken = try store([.json(firebaseResource("x", [1]))])
        #expect(await failure(of: try await taken.store.insert(small))?.kind == .preconditionFailed)
        #expect(taken.left == 0)
    }

    @Test func aLostAnswerIsFoundToHaveBeenASuccess() async throws {
        let stored = Step.json(
            firebaseResource("x", Array("hello".utf8), generation: 9))
        let scripted = try store([.error(404), .failure(.connectionLost), stored, stored])
        let object = try await scripted.store.insert(Upload("x", "hello", if: .mustNotExist))
        #expect(object.objectGeneration == ObjectGeneration(9))
        #expect(scripted.course == ["GET", "POST", "GET", "GET"], "it is not sent over what may be ours")
    }

    @Test func cancellingTheTaskEndsTheSession() async throws {
        let scripted = try store([.opened, .silence, .session(200, "cancelled")])
        let task = Task { await failure(of: try await scripted.store.insert(upload())) }
        while scripted.asked.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        #expect(try await task.value?.kind == .cancelled)
        #expect(scripted.course == ["POST start", "POST upload 0", "POST cancel"])
    }

    @Test(arguments: ["http://example.com/session", "http://10.0.0.1/session"])
    func aSessionInTheClearIsRefused(address: String) async throws {
        for endpoint in ["http://127.0.0.1:1", "https://example.com"] {
            let opened = Step.answer(200, [("x-goog-upload-url", address)])
            let scripted = try ScriptedFirebase([opened], endpoint: endpoint)
            #expect(await failure(of: try await scripted.store.insert(upload()))?.kind == .malformedAnswer)
            #expect(scripted.course == ["POST start"])
        }
    }

    @Test func aStartWithoutAnAddressIsNoSession() async throws {
        for answer in [
            Step.answer(200), .answer(200, [("x-goog-upload-status", "final"), ("x-goog-upload-url", "/s")]),
        ] {
            let scripted = try store([answer])
            #expect(await failure(of: try await scripted.store.insert(upload()))?.kind == .malformedAnswer)
        }
    }
}
