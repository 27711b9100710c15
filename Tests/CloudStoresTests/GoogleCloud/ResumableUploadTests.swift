import HTTPTransport
import Locking
import ObjectStore
import Testing

@testable import CloudStores

struct ResumableUploadTests {
    typealias Step = ScriptedTransport.Step

    let bytes = pattern(600_000)
    private let session = Step.answer(200, [("location", "http://127.0.0.1:1/session?upload_id=7")])

    private func store(_ script: [Step], chunkSize: Int64? = nil) throws -> ScriptedStore {
        try ScriptedStore(script, credentials: FixedCredentials(Authorization(value: "Bearer t")), pieceSize: 50_000) {
            $0.wholeUploadLimit = 10
            $0.chunkSize = chunkSize
        }
    }

    private func stored(upTo end: Int?) -> Step { .answer(308, end.map { [("range", "bytes=0-\($0 - 1)")] } ?? []) }
    private var done: Step { .json(resource("x", bytes)) }

    private func ranges(_ scripted: ScriptedStore) -> [String?] { scripted.asked.map { $0.header("Content-Range") } }

    @Test func aSessionTakesEverythingInOneRequest() async throws {
        let scripted = try store([session, done])
        let object = try await scripted.store.insert(Upload("x", bytes, if: .mustBe(ObjectGeneration(3))))
        #expect(object.size == 600_000)
        let start = scripted.asked[0]
        #expect(start.path == "/upload/storage/v1/b/demo/o")
        #expect(start.query("uploadType") == "resumable")
        #expect(start.query("ifGenerationMatch") == "3")
        #expect(start.header("X-Upload-Content-Length") == "600000")
        #expect(start.header("X-Upload-Content-Type") == "text/plain")
        #expect(start.header("Authorization") == "Bearer t")
        #expect(start.text.contains(#""crc32c":"\#(checksum(of: bytes).checksumText)""#))
        let put = scripted.asked[1]
        #expect(put.request.method == .put)
        #expect(put.request.url == "http://127.0.0.1:1/session?upload_id=7")
        #expect(put.header("Authorization") == nil, "the session's address is enough")
        #expect(put.header("Content-Range") == "bytes 0-599999/600000")
        #expect(checksum(of: put.body) == checksum(of: bytes))
    }

    @Test func chunksNameTheTotalAtTheEnd() async throws {
        let scripted = try store(
            [session, stored(upTo: 262_144), stored(upTo: 524_288), done], chunkSize: 262_144)
        _ = try await scripted.store.insert(Upload("x", bytes))
        #expect(
            ranges(scripted) == [nil, "bytes 0-262143/*", "bytes 262144-524287/*", "bytes 524288-599999/600000"])
    }

    @Test func aServerThatTookLessGetsTheRest() async throws {
        let scripted = try store([session, stored(upTo: 262_144), done])
        _ = try await scripted.store.insert(Upload("x", bytes))
        #expect(ranges(scripted).last == "bytes 262144-599999/600000")
        #expect(checksum(of: scripted.asked[2].body) == checksum(of: Array(bytes[262_144...])))
        #expect(scripted.clock.pauses.isEmpty)
    }

    @Test(
        arguments: [
            .takes(300_000, .connectionLost), .error(503), .error(429), .error(408), .takes(100_000, .timedOut),
        ] as [ScriptedTransport.Step])
    func afterAnInterruptionTheServerIsAskedFirst(step: ScriptedTransport.Step) async throws {
        let scripted = try store([session, step, stored(upTo: 262_144), done])
        _ = try await scripted.store.insert(Upload("x", bytes))
        #expect(ranges(scripted) == [nil, "bytes 0-599999/600000", "bytes */600000", "bytes 262144-599999/600000"])
        #expect(scripted.clock.pauses.count == 1)
    }

    @Test func aServerThatHasNothingGetsEverythingAgain() async throws {
        let scripted = try store([session, .failure(.connectionLost), stored(upTo: nil), done])
        _ = try await scripted.store.insert(Upload("x", bytes))
        #expect(ranges(scripted).last == "bytes 0-599999/600000")
    }

    @Test func aLostAnswerToTheLastBytesIsFoundByAsking() async throws {
        let scripted = try store([session, .failure(.connectionLost), done])
        #expect(try await scripted.store.insert(Upload("x", bytes)).size == 600_000)
    }

    @Test(arguments: [404, 410])
    func aLostSessionIsOpenedAnew(status: Int) async throws {
        let scripted = try store([session, .failure(.connectionLost), .error(status), session, done])
        _ = try await scripted.store.insert(Upload("x", bytes))
        #expect(scripted.asked[3].query("ifGenerationMatch") == "0")
    }

    @Test func aServerThatLosesEverySessionIsGivenUp() async throws {
        let scripted = try store(Array(repeating: [session, .error(410)], count: 10).flatMap(\.self))
        let error = await failure(of: try await scripted.store.insert(Upload("x", bytes)))
        #expect(error?.kind == .serverFailed)
        #expect(scripted.asked.count == 8)
    }

    @Test func aConflictAfterALostSessionIsOwnSuccessWhenTheBytesAreOurs() async throws {
        let scripted = try store([session, .failure(.connectionLost), .error(410), .error(412), done])
        #expect(try await scripted.store.insert(Upload("x", bytes)).objectGeneration == ObjectGeneration(7))
    }

    @Test func aQuestionThatEndsTheUploadTooEarlyIsMended() async throws {
        let piece = Step.json(resource("x", Array(bytes[..<262_144]), generation: 5))
        let scripted = try store([session, .failure(.connectionLost), piece, session, done])
        _ = try await scripted.store.insert(Upload("x", bytes))
        #expect(scripted.asked[3].query("ifGenerationMatch") == "5", "only the piece may be replaced")
    }

    @Test func aDamagedObjectIsReplacedByTheRightOne() async throws {
        let damaged = Step.json(resource("x", Array(pattern(600_001).dropFirst()), generation: 5))
        let scripted = try store([session, damaged, session, done])
        _ = try await scripted.store.insert(Upload("x", bytes, if: .mustBe(ObjectGeneration(3))))
        #expect(scripted.asked[2].query("ifGenerationMatch") == "5")
    }

    @Test func anObjectThatIsShortEachTimeIsAFailureAndDoesNotStay() async throws {
        let short = Step.json(resource("x", Array(bytes[..<262_144])))
        let scripted = try store(Array(repeating: [session, short], count: 4).flatMap(\.self) + [.answer(204)])
        let error = await failure(of: try await scripted.store.insert(Upload("x", bytes)))
        #expect(error?.kind == .corrupted)
        #expect(scripted.asked.last?.request.method == .delete)
    }

    @Test(arguments: [
        ("bytes=0-600000", StorageError.Kind.malformedAnswer), ("bytes=5-10", .malformedAnswer),
        ("bytes=0-x", .malformedAnswer), ("bytes=0--1", .malformedAnswer),
        ("bytes=0-9223372036854775807", .malformedAnswer),
    ])
    func claimsThatMakeNoSenseEndTheUpload(range: String, kind: StorageError.Kind) async throws {
        let scripted = try store([session, .answer(308, [("range", range)])])
        let error = await failure(of: try await scripted.store.insert(Upload("x", bytes)))
        #expect(error?.kind == kind)
    }

    @Test func aServerThatTakesNothingIsGivenUpInTime() async throws {
        let scripted = try store([session] + Array(repeating: stored(upTo: nil), count: 100))
        let error = await failure(of: try await scripted.store.insert(Upload("x", bytes)))
        #expect(error?.kind == .serverFailed)
        #expect(scripted.clock.pauses.reduce(.zero, +) < .seconds(60))
        #expect(scripted.asked.count < 25)
    }

    @Test func aStartWithoutAnAddressIsMalformed() async throws {
        let scripted = try store([.answer(200)])
        let error = await failure(of: try await scripted.store.insert(Upload("x", bytes)))
        #expect(error?.kind == .malformedAnswer)
    }

    @Test func aRelativeAddressIsOnTheSameServer() async throws {
        let scripted = try store([.answer(200, [("location", "/up?id=1")]), done])
        _ = try await scripted.store.insert(Upload("x", bytes))
        #expect(scripted.asked[1].request.url == "http://127.0.0.1:1/up?id=1")
    }

    @Test func anUploadThatBeganEncryptedStaysSo() async throws {
        let scripted = try ScriptedStore([session, done], endpoint: "https://host") { $0.wholeUploadLimit = 10 }
        let error = await failure(of: try await scripted.store.insert(Upload("x", bytes, if: .none)))
        #expect(error?.kind == .malformedAnswer)
        #expect(scripted.asked.count == 1)
    }

    @Test func startingIsRepeatedAndRefusalsAreFinal() async throws {
        let scripted = try store([.error(503), .failure(.connectionLost), session, .error(403)])
        let error = await failure(of: try await scripted.store.insert(Upload("x", bytes, if: .none)))
        #expect(error?.kind == .forbidden)
        #expect(scripted.left == 0)
    }

    @Test func progressNeverGoesBeyondTheSizeAndEndsThere() async throws {
        let scripted = try store([session, stored(upTo: 262_144), done])
        let seen = Lock<[Int64]>([])
        _ = try await scripted.store.insert(Upload("x", bytes) { count in seen.withLock { $0.append(count) } })
        #expect(seen.withLock { $0.last } == 600_000)
        #expect(seen.withLock { $0.allSatisfy { (0...600_000).contains($0) } })
    }
}
