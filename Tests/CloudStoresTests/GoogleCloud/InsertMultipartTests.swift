import HTTPTransport
import Locking
import ObjectStore
import TestSupport
import Testing

@testable import CloudStores

struct InsertMultipartTests {
    typealias Step = ScriptedTransport.Step

    let bytes = Array("hello".utf8)

    @Test func metadataAndBytesTravelInOneRequest() async throws {
        let scripted = try ScriptedStore([.json(resource("a b", bytes))])
        var headers = ObjectHeaders(contentType: "text/plain", cacheControl: "no-cache")
        headers.custom = ["k\"": "v\n"]
        let stored = try await scripted.store.insert(Upload("a b", bytes, headers: headers))
        #expect(stored.objectGeneration == ObjectGeneration(7))
        let asked = try #require(scripted.asked.first)
        #expect(asked.request.method == .post)
        #expect(asked.path == "/upload/storage/v1/b/demo/o")
        #expect(asked.query("uploadType") == "multipart")
        #expect(asked.query("name") == "a%20b")
        #expect(asked.query("ifGenerationMatch") == "0")
        let type = try #require(asked.header("Content-Type"))
        let boundary = try #require(type.split(separator: "boundary=").last)
        #expect(
            asked.text == "--\(boundary)\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"
                + #"{"contentType":"text/plain","cacheControl":"no-cache","metadata":{"k\"":"v\u000a"},"name":"a b","#
                + #""crc32c":"mnG7TA=="}"#
                + "\r\n--\(boundary)\r\nContent-Type: text/plain\r\n\r\nhello\r\n--\(boundary)--\r\n"
        )
    }

    @Test func withAPreconditionItIsSentAgain() async throws {
        let scripted = try ScriptedStore([
            .takes(3, .connectionLost), .error(503), .error(429), .error(408), .failure(.timedOut),
            .json(resource("x", bytes)),
        ])
        _ = try await scripted.store.insert(Upload("x", bytes))
        #expect(scripted.left == 0)
    }

    @Test(
        arguments: [.failure(.connectionLost), .failure(.timedOut), .error(503), .error(408)]
            as [ScriptedTransport.Step])
    func withoutAPreconditionItIsNotSentAgainWhenItMayHaveArrived(step: ScriptedTransport.Step) async throws {
        let scripted = try ScriptedStore([step, .json(resource("x", bytes))])
        #expect(
            await failure(of: try await scripted.store.insert(Upload("x", bytes, if: .none))) != nil)
        #expect(scripted.asked.count == 1)
    }

    @Test(arguments: [.failure(.notConnected), .failure(.unresolved), .error(429)] as [ScriptedTransport.Step])
    func withoutAPreconditionItIsSentAgainWhenItCannotHaveArrived(step: ScriptedTransport.Step) async throws {
        let scripted = try ScriptedStore([step, .json(resource("x", bytes))])
        _ = try await scripted.store.insert(Upload("x", bytes, if: .none))
        #expect(scripted.asked.count == 2)
    }

    @Test func aConflictAfterALostAnswerIsOwnSuccessWhenTheBytesAreOurs() async throws {
        let scripted = try ScriptedStore([.failure(.connectionLost), .error(412), .json(resource("x", bytes))])
        let stored = try await scripted.store.insert(Upload("x", bytes))
        #expect(stored.objectGeneration == ObjectGeneration(7))
        #expect(scripted.asked[2].request.method == .get)
    }

    @Test func aConflictAfterAHiddenResendIsOwnSuccessToo() async throws {
        let scripted = try ScriptedStore([.rewinds(then: .error(412)), .json(resource("x", bytes))], pieceSize: 100)
        _ = try await scripted.store.insert(Upload("x", bytes))
        #expect(scripted.asked.count == 2)
    }

    @Test(arguments: [
        resource("x", Array("other".utf8)), resource("x", Array("longer".utf8)),
        resource("x", Array("hello".utf8), contentType: "image/png"),
    ])
    func aConflictAfterALostAnswerStaysOneWhenTheBytesAreNotOurs(now: String) async throws {
        let scripted = try ScriptedStore([.failure(.connectionLost), .error(412), .json(now)])
        let error = await failure(of: try await scripted.store.insert(Upload("x", bytes)))
        #expect(error?.kind == .preconditionFailed)
    }

    @Test func theVersionThatWasToBeReplacedIsNoSuccess() async throws {
        let scripted = try ScriptedStore([
            .failure(.connectionLost), .error(412), .json(resource("x", bytes, generation: 7)),
        ])
        let error = await failure(
            of: try await scripted.store.insert(Upload("x", bytes, if: .mustBe(ObjectGeneration(7)))))
        #expect(error?.kind == .preconditionFailed)
    }

    @Test func aPlainConflictIsReportedWithoutAnotherRequest() async throws {
        let scripted = try ScriptedStore([.error(412)])
        let error = await failure(of: try await scripted.store.insert(Upload("x", bytes)))
        #expect(error?.kind == .preconditionFailed)
        #expect(scripted.asked.count == 1)
    }

    @Test(arguments: [
        (resource("y", Array("hello".utf8)), StorageError.Kind.corrupted), ("", .malformedAnswer),
        ("<html>ok</html>", .malformedAnswer),
        (#"{"error":{"code":500,"message":"oops"}}"#, .malformedAnswer), (#"{"name":"x"}"#, .malformedAnswer),
        (#"{"name":"x","generation":"1"}"#, .malformedAnswer), ("[]", .malformedAnswer), ("null", .malformedAnswer),
    ])
    func aSuccessThatShowsSomethingElseIsAFailure(answer: String, kind: StorageError.Kind) async throws {
        let scripted = try ScriptedStore([.json(answer)])
        let error = await failure(of: try await scripted.store.insert(Upload("x", bytes)))
        #expect(error?.kind == kind)
    }

    @Test(arguments: ["hellO", "hell"])
    func aDamagedObjectIsReplacedByTheRightOne(damaged: String) async throws {
        let scripted = try ScriptedStore([
            .json(resource("x", Array(damaged.utf8), generation: 5)), .json(resource("x", bytes, generation: 6)),
        ])
        let old = Precondition(object: .mustBe(ObjectGeneration(3)), metageneration: Metageneration(2))
        let object = try await scripted.store.insert(Upload("x", bytes, if: old))
        #expect(object.objectGeneration == ObjectGeneration(6))
        #expect(scripted.asked[1].query("ifGenerationMatch") == "5", "and nobody else's")
        #expect(scripted.asked[1].query("ifMetagenerationMatch") == nil)
    }

    @Test func aNewObjectThatIsDamagedEachTimeDoesNotStay() async throws {
        let damaged = (1...3).map { Step.json(resource("x", Array("hellO".utf8), generation: Int64($0))) }
        let scripted = try ScriptedStore(damaged + [.answer(204)])
        let error = await failure(of: try await scripted.store.insert(Upload("x", bytes)))
        #expect(error?.kind == .corrupted)
        #expect(scripted.asked.last?.request.method == .delete)
        #expect(scripted.asked.last?.query("ifGenerationMatch") == "3")
    }

    @Test func aDamagedAnswerToAStoredUploadIsCheckedWithTheBucket() async throws {
        let scripted = try ScriptedStore([.json("{"), .json(resource("x", bytes))])
        #expect(try await scripted.store.insert(Upload("x", bytes)).size == 5)
        let unsure = try ScriptedStore([.json("{"), .json(resource("x", bytes))])
        #expect(
            await failure(of: try await unsure.store.insert(Upload("x", bytes, if: .none)))?.kind == .malformedAnswer)
        let missing = try ScriptedStore([.json("{"), .error(404)])
        #expect(await failure(of: try await missing.store.insert(Upload("x", bytes)))?.kind == .malformedAnswer)
    }

    @Test func numbersMayBeNumbers() async throws {
        let answer = #"{"name":"x","generation":8,"metageneration":1,"size":5,"crc32c":"mnG7TA=="}"#
        let scripted = try ScriptedStore([.json(answer)])
        #expect(try await scripted.store.insert(Upload("x", bytes)).size == 5)
    }

    @Test func aSourceThatCannotBeReadFailsTheUpload() async throws {
        struct Broken: UploadSource {
            let size: Int64 = 10
            let crc32c: UInt32 = 0
            func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
                throw TransportError(.cancelled, "gone")
            }
        }
        let scripted = try ScriptedStore([.json(resource("x", bytes))])
        let upload = Upload(
            name: ObjectName("x"), headers: ObjectHeaders(), precondition: .mustNotExist, source: Broken())
        let error = await failure(of: try await scripted.store.insert(upload))
        #expect(error?.kind == .sourceFailed)
        #expect(scripted.asked.count == 1)
    }

    @Test func progressIsTold() async throws {
        let scripted = try ScriptedStore([.json(resource("x", pattern(2_500)))])
        let seen = Lock<[Int64]>([])
        _ = try await scripted.store.insert(
            Upload("x", pattern(2_500)) { count in seen.withLock { $0.append(count) } })
        let values = seen.withLock { $0 }
        #expect(values.last == 2_500)
        #expect(values == values.sorted())
    }

    @Test func cancellingTheTaskCancelsTheRequest() async throws {
        let scripted = try ScriptedStore([.silence])
        let task = Task { () async -> StorageError? in
            await failure(of: try await scripted.store.insert(Upload("x", bytes)))
        }
        while scripted.asked.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await task.value?.kind == .cancelled)
    }

    @Test func lineBreaksInATypeStayOutOfTheMediaPart() async throws {
        let scripted = try ScriptedStore([.json(resource("x", bytes))])
        _ = try await scripted.store.insert(Upload("x", bytes, headers: ObjectHeaders(contentType: "a/b\r\nX: y")))
        #expect(scripted.asked[0].text.contains("Content-Type: a/bX: y\r\n\r\nhello"))
    }
}
