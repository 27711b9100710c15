import HTTPTransport
import ObjectStore
import TestSupport
import Testing

@testable import CloudStores

struct ReadObjectTests {
    let name = ObjectName("a b/é")
    let object = pattern(5_000)
    let generation = ObjectGeneration(7)

    @Test func aWholeObjectIsOneRequest() async throws {
        let scripted = try ScriptedStore([whole(object)])
        let read = await scripted.read(ReadRequest(name: name))
        #expect(read.error == nil)
        #expect(checksum(of: read.bytes) == checksum(of: object))
        #expect(
            read.head
                == ReadHead(
                    objectGeneration: generation, metageneration: Metageneration(1), objectSize: 5_000, count: 5_000,
                    crc32c: checksum(of: object)))
        let asked = try #require(scripted.asked.first)
        #expect(asked.request.url == "http://127.0.0.1:1/storage/v1/b/demo/o/a%20b%2F%C3%A9?alt=media")
        #expect(asked.header("Accept-Encoding") == "gzip")
        #expect(asked.header("Range") == nil)
    }

    @Test func aRangeOfAPinnedGenerationIsAskedFor() async throws {
        let scripted = try ScriptedStore([range(100..<300, of: object)])
        let read = await scripted.read(ReadRequest(name: name, objectGeneration: generation, offset: 100, count: 200))
        #expect(checksum(of: read.bytes) == checksum(of: Array(object[100..<300])))
        #expect(scripted.asked[0].header("Range") == "bytes=100-299")
        #expect(scripted.asked[0].query("generation") == "7")
    }

    @Test func aRangeBeyondTheEndIsCut() async throws {
        let scripted = try ScriptedStore([range(4_900..<5_000, of: object)])
        let read = await scripted.read(ReadRequest(name: name, offset: 4_900, count: 200))
        #expect(read.head?.count == 100)
        #expect(checksum(of: read.bytes) == checksum(of: Array(object[4_900...])))
    }

    @Test func aWholeAnswerToARangeIsSliced() async throws {
        let scripted = try ScriptedStore([whole(object)])
        let read = await scripted.read(ReadRequest(name: name, offset: 1_500, count: 1_000))
        #expect(read.error == nil)
        #expect(checksum(of: read.bytes) == checksum(of: Array(object[1_500..<2_500])))
        #expect(read.head?.objectSize == 5_000)
    }

    @Test func noBytesAreDeliveredWhenNoneAreWanted() async throws {
        let scripted = try ScriptedStore([range(10..<11, of: object)])
        let read = await scripted.read(ReadRequest(name: name, offset: 10, count: 0))
        #expect(read.error == nil)
        #expect(read.head?.count == 0)
        #expect(read.bytes.isEmpty)
    }

    @Test func aBrokenReadGoesOnWhereItWasInTheSameGeneration() async throws {
        let scripted = try ScriptedStore([
            .broken(200, mediaHead(of: object), Array(object[..<2_000]), .connectionLost),
            .broken(206, mediaHead(of: object, 2_000..<5_000), Array(object[2_000..<3_000]), .timedOut),
            .error(503),
            range(3_000..<5_000, of: object),
        ])
        let read = await scripted.read(ReadRequest(name: name))
        #expect(read.error == nil)
        #expect(checksum(of: read.bytes) == checksum(of: object))
        #expect(
            scripted.asked.map { $0.header("Range") } == [nil, "bytes=2000-4999", "bytes=3000-4999", "bytes=3000-4999"])
        #expect(scripted.asked.map { $0.query("generation") } == [nil, "7", "7", "7"])
    }

    @Test(arguments: [404, 412, 304])
    func anObjectThatIsReplacedMidwayIsNeverMixed(status: Int) async throws {
        let object = pattern(200_000)
        let scripted = try ScriptedStore([
            .broken(200, mediaHead(of: object), Array(object[..<2_000]), .connectionLost), .error(status),
        ])
        let read = await scripted.read(ReadRequest(name: name))
        #expect(read.error?.kind == .generationChanged)
        #expect(checksum(of: read.bytes) == checksum(of: Array(object[..<2_000])))
    }

    @Test func anotherGenerationDeliversNothing() async throws {
        let scripted = try ScriptedStore([whole(object, generation: 8)])
        let read = await scripted.read(ReadRequest(name: name, objectGeneration: generation))
        #expect(read.error?.kind == .generationChanged)
        #expect(read.head == nil && read.bytes.isEmpty)
    }

    @Test(
        arguments: [(404, .notFound), (412, .generationChanged), (403, .forbidden), (400, .invalidRequest)]
            as [(Int, StorageError.Kind)])
    func refusalsAreFinal(status: Int, kind: StorageError.Kind) async throws {
        let scripted = try ScriptedStore([.error(status)])
        let read = await scripted.read(ReadRequest(name: name, objectGeneration: generation))
        #expect(read.error?.kind == kind)
        #expect(read.error?.httpStatus == status)
    }

    @Test func anEmptyObjectAnswersARangeWithNothing() async throws {
        let scripted = try ScriptedStore([.answer(416, [("content-range", "bytes */0")]), whole([])])
        let read = await scripted.read(ReadRequest(name: name, offset: 0, count: 100))
        #expect(read.error == nil)
        #expect(read.head?.count == 0 && read.head?.objectGeneration == generation)
        #expect(scripted.asked[1].header("Range") == nil)
        #expect(scripted.clock.pauses.isEmpty)
    }

    @Test func aRangePastTheEndIsNotSatisfiable() async throws {
        let scripted = try ScriptedStore([.answer(416, [("content-range", "bytes */5000")])])
        let read = await scripted.read(ReadRequest(name: name, offset: 5_000, count: 1))
        #expect(read.error?.kind == .rangeNotSatisfiable)
        let sliced = try ScriptedStore([whole(object)])
        #expect(await sliced.read(ReadRequest(name: name, offset: 5_000, count: 1)).error?.kind == .rangeNotSatisfiable)
    }

    @Test func aSmallDamagedObjectIsReadAgainBeforeAnyByteIsDelivered() async throws {
        var damaged = object
        damaged[17] ^= 1
        let scripted = try ScriptedStore([.answer(200, mediaHead(of: object), damaged), whole(object)])
        let read = await scripted.read(ReadRequest(name: name))
        #expect(read.error == nil)
        #expect(checksum(of: read.bytes) == checksum(of: object))
        let twice = try ScriptedStore([
            .answer(200, mediaHead(of: object), damaged), .answer(200, mediaHead(of: object), damaged),
        ])
        let failed = await twice.read(ReadRequest(name: name))
        #expect(failed.error?.kind == .corrupted)
        #expect(failed.bytes.isEmpty)
    }

    @Test func aLargeDamagedObjectFailsAtItsEnd() async throws {
        let object = pattern(300_000)
        let scripted = try ScriptedStore(
            [.answer(200, mediaHead(of: object, checksum: "AAAAAA=="), object)], pieceSize: 65_536)
        let read = await scripted.read(ReadRequest(name: name))
        #expect(read.error?.kind == .corrupted)
    }

    @Test func checksumsOfPartsAreNotCompared() async throws {
        let scripted = try ScriptedStore([range(0..<100, of: object)])
        #expect(await scripted.read(ReadRequest(name: name, offset: 0, count: 100)).error == nil)
    }

    @Test func aShortBodyIsContinuedOnceAndThenCalledDamaged() async throws {
        let short = ScriptedTransport.Step.answer(206, mediaHead(of: object, 0..<1_000), Array(object[..<400]))
        let mended = try ScriptedStore([short, range(400..<1_000, of: object)])
        let read = await mended.read(ReadRequest(name: name, offset: 0, count: 1_000))
        #expect(read.error == nil)
        #expect(checksum(of: read.bytes) == checksum(of: Array(object[..<1_000])))
        let head = mediaHead(of: object, 400..<1_000)
        let broken = try ScriptedStore([short, .answer(206, head, Array(object[400..<500]))])
        #expect(await broken.read(ReadRequest(name: name, offset: 0, count: 1_000)).error?.kind == .corrupted)
    }

    @Test func moreBytesThanAnnouncedAreNotDelivered() async throws {
        let step = ScriptedTransport.Step.answer(206, mediaHead(of: object, 0..<1_000), Array(object[..<1_001]))
        let scripted = try ScriptedStore([step, step], pieceSize: 300)
        let read = await scripted.read(ReadRequest(name: name, offset: 0, count: 1_000))
        #expect(read.error?.kind == .corrupted)
        #expect(read.bytes.count <= 1_000)
    }

    @Test(
        arguments: [
            (200, [("x-goog-generation", "7")]),
            (
                200,
                [
                    ("x-goog-generation", "7"), ("content-length", "5"),
                    ("x-guploader-response-body-transformations", "gunzipped"),
                ]
            ),
            (200, [("x-goog-generation", "7"), ("content-length", "5"), ("x-goog-stored-content-length", "3")]),
            (200, [("x-goog-generation", "7"), ("content-length", "-5")]),
            (200, [("content-length", "5")]),
            (206, [("x-goog-generation", "7"), ("content-length", "5")]),
            (206, [("x-goog-generation", "7"), ("content-length", "5"), ("content-range", "bytes 0-4/*")]),
            (206, [("x-goog-generation", "7"), ("content-length", "6"), ("content-range", "bytes 0-4/9")]),
            (206, [("x-goog-generation", "7"), ("content-length", "5"), ("content-range", "bytes 2-6/9")]),
            (206, [("x-goog-generation", "7"), ("content-length", "5"), ("content-range", "bytes 4-0/9")]),
            (204, [("x-goog-generation", "7")]),
        ] as [(Int, [(String, String)])])
    func headsThatMakeNoSenseDeliverNothing(status: Int, headers: [(String, String)]) async throws {
        let step = ScriptedTransport.Step.answer(status, headers.map { ($0.0, $0.1) }, Array("hello".utf8))
        let scripted = try ScriptedStore([step, step])
        let read = await scripted.read(ReadRequest(name: name))
        #expect(read.error?.kind == .malformedAnswer)
        #expect(read.head == nil && read.bytes.isEmpty)
    }

    /// As a gateway's page has it.
    @Test func anAnswerWithoutGenerationIsNotTheObject() async throws {
        let page = ScriptedTransport.Step.answer(200, [("content-length", "5")], Array("hello".utf8))
        let scripted = try ScriptedStore([page, whole(object)])
        let read = await scripted.read(
            ReadRequest(name: name, objectGeneration: ObjectGeneration(7), offset: 0, count: 3))
        #expect(read.bytes == Array(object[..<3]))
    }

    @Test func aRefusedTokenIsReplacedOnce() async throws {
        let scripted = try ScriptedStore([.error(401), whole(object)], credentials: TokenRow(["old", "new"]))
        #expect(await scripted.read(ReadRequest(name: name)).error == nil)
        #expect(scripted.asked.map { $0.header("Authorization") } == ["Bearer old", "Bearer new"])
        let refused = try ScriptedStore([.error(401), .error(401)], credentials: TokenRow(["old", "new", "newer"]))
        #expect(await refused.read(ReadRequest(name: name)).error?.kind == .unauthenticated)
        let anonymous = try ScriptedStore([.error(401)])
        #expect(await anonymous.read(ReadRequest(name: name)).error?.kind == .unauthenticated)
    }

    @Test func aTokenIsFetchedWhenNoneIsAtHand() async throws {
        let scripted = try ScriptedStore([whole(object)], credentials: TokenRow(["late"], cachesFirst: false))
        #expect(checksum(of: await scripted.read(ReadRequest(name: name)).bytes) == checksum(of: object))
        #expect(scripted.asked[0].header("Authorization") == "Bearer late")
    }

    @Test func aServerThatKeepsFailingEndsTheReadInTime() async throws {
        let scripted = try ScriptedStore(Array(repeating: .error(503), count: 50)) { $0.timeLimit = .seconds(10) }
        let read = await scripted.read(ReadRequest(name: name))
        #expect(read.error?.kind == .serverFailed)
        #expect(scripted.clock.pauses.reduce(.zero, +) < .seconds(10))
        #expect(scripted.asked.count > 3)
    }

    @Test func aCancelledReadSaysSo() async throws {
        let scripted = try ScriptedStore([.silence])
        let receiver = CollectedRead()
        let transfer = scripted.store.read(ReadRequest(name: name), into: receiver)
        transfer.cancel()
        transfer.cancel()
        #expect(await receiver.outcome().error?.kind == .cancelled)
    }

    @Test(arguments: ["", ".", ".."])
    func namesThatWouldBeAnotherAddressAreNotAskedFor(name: String) async throws {
        let scripted = try ScriptedStore([whole(object)])
        #expect(await scripted.read(ReadRequest(name: ObjectName(name))).error?.kind == .invalidRequest)
        #expect(scripted.asked.isEmpty)
    }

    /// Whatever a server sends, cut and broken anywhere: the bytes delivered are the object's, in order, and a success
    /// has all of them.
    @Test(arguments: 0..<150 as Range<UInt64>)
    func onlyTheObjectsBytesAreEverDelivered(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let object = pattern(Int.random(in: 1...4_000, using: &random))
        let offset = Int.random(in: 0..<object.count, using: &random)
        let count = Int.random(in: 1...4_000, using: &random)
        let wanted = offset..<min(offset + count, object.count)
        var script: [ScriptedTransport.Step] = []
        var position = wanted.lowerBound
        while position < wanted.upperBound, script.count < 6 {
            let answersWhole = Int.random(in: 0..<4, using: &random) == 0
            let span = answersWhole ? 0..<object.count : position..<wanted.upperBound
            let end = Int.random(in: span, using: &random)
            let head = mediaHead(of: object, answersWhole ? nil : span)
            script.append(
                .broken(answersWhole ? 200 : 206, head, Array(object[span.lowerBound..<end]), .connectionLost))
            position = max(position, min(end, wanted.upperBound))
        }
        if position < wanted.upperBound { script.append(range(position..<wanted.upperBound, of: object)) }
        let scripted = try ScriptedStore(script, pieceSize: Int.random(in: 1...700, using: &random))
        let read = await scripted.read(ReadRequest(name: name, offset: Int64(offset), count: Int64(count)))
        #expect(read.error == nil)
        #expect(checksum(of: read.bytes) == checksum(of: Array(object[wanted])))
    }
}
