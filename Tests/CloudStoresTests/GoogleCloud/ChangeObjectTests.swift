import HTTPTransport
import ObjectStore
import Testing

@testable import CloudStores

/// Metadata, patches, copies, moves, compositions and deletions.
struct ChangeObjectTests {
    let x = ObjectName("x")
    let bytes: [UInt8] = [1, 2, 3]
    private var copy: ObjectCopy {
        ObjectCopy(
            source: x, sourceGeneration: ObjectGeneration(7), destination: ObjectName("d/y z"),
            precondition: .mustNotExist)
    }

    private func failed(_ call: @autoclosure () async throws -> some Any) async -> StorageError.Kind? {
        await failure(of: try await call())?.kind
    }

    // MARK: Metadata and patch

    @Test func metadataOfAnotherObjectIsNotBelieved() async throws {
        let scripted = try ScriptedStore([.json(resource("y", bytes))])
        #expect(
            await failed(try await scripted.store.metadata(of: x))
                == .malformedAnswer)
    }

    @Test func aPatchMentionsOnlyWhatChanges() async throws {
        let scripted = try ScriptedStore([.json(resource("x", bytes))])
        var patch = MetadataPatch(custom: ["a": .set("1"), "b": .remove])
        patch.contentType = .set("image/png")
        patch.cacheControl = .remove
        let condition = Precondition(object: .mustBe(ObjectGeneration(7)), metageneration: Metageneration(2))
        _ = try await scripted.store.patch(x, patch, if: condition)
        let asked = scripted.asked[0]
        #expect(asked.request.method == .patch)
        #expect(asked.path == "/storage/v1/b/demo/o/x")
        #expect(asked.query("ifGenerationMatch") == "7" && asked.query("ifMetagenerationMatch") == "2")
        #expect(asked.text == #"{"contentType":"image/png","cacheControl":null,"metadata":{"a":"1","b":null}}"#)
    }

    @Test func aPatchWhoseAnswerWasLostIsRecognised() async throws {
        let now = resource("x", bytes, metageneration: 3, metadata: #"{"a":"1"}"#)
        let condition = Precondition(metageneration: Metageneration(2))
        let ours = try ScriptedStore([.failure(.connectionLost), .error(412), .json(now)])
        let patched = try await ours.store.patch(x, MetadataPatch(custom: ["a": .set("1")]), if: condition)
        #expect(patched.metageneration == Metageneration(3))
        let theirs = try ScriptedStore([.failure(.connectionLost), .error(412), .json(now)])
        #expect(
            await failed(try await theirs.store.patch(x, MetadataPatch(custom: ["a": .set("2")]), if: condition))
                == .preconditionFailed)
    }

    // MARK: Delete

    @Test func aDeletionNamesItsGeneration() async throws {
        let scripted = try ScriptedStore([.answer(204)])
        try await scripted.store.delete(x, if: .mustBe(ObjectGeneration(7)))
        #expect(scripted.asked[0].request.method == .delete)
        #expect(scripted.asked[0].query("ifGenerationMatch") == "7")
    }

    @Test func aDeletionThatFindsNothingAfterALostAnswerHasSucceeded() async throws {
        let scripted = try ScriptedStore([.failure(.timedOut), .error(404)])
        try await scripted.store.delete(x, if: .mustBe(ObjectGeneration(7)))
        let plain = try ScriptedStore([.error(404), .error(404)])
        #expect(
            await failed(try await plain.store.delete(x, if: .none)) == .notFound)
        let limited = try ScriptedStore([.error(429), .error(404), .error(404)])
        #expect(
            await failed(try await limited.store.delete(x, if: .none)) == .notFound)
    }

    @Test func whatADeletionDidNotFindIsGoneOrDeletedAgain() async throws {
        let there = ScriptedTransport.Step.json(resource("x", bytes, generation: 7))
        let lied = try ScriptedStore([.error(404), there, .answer(204)])
        try await lied.store.delete(x, if: .mustBe(ObjectGeneration(7)))
        #expect(lied.asked.map(\.request.method) == [.delete, .get, .delete])
        let odd = try ScriptedStore([.json(#"{"error":{"code":503}}"#), there, .answer(204)])
        try await odd.store.delete(x, if: .mustBe(ObjectGeneration(7)))
        let done = try ScriptedStore([.json(#"{"error":{"code":503}}"#), .error(404)])
        try await done.store.delete(x, if: .mustBe(ObjectGeneration(7)))
    }

    @Test func aDeletionWithoutAPreconditionIsNotRepeated() async throws {
        let scripted = try ScriptedStore([.error(503), .answer(204)])
        #expect(
            await failed(try await scripted.store.delete(x, if: .none))
                == .serverFailed)
    }

    @Test(arguments: ["", ".", ".."])
    func dangerousNamesAreNeverAskedFor(name: String) async throws {
        let scripted = try ScriptedStore([])
        let store = scripted.store
        let name = ObjectName(name)
        #expect(
            await failed(try await store.delete(name, if: .none)) == .invalidRequest
        )
        #expect(await failed(try await store.metadata(of: name)) == .invalidRequest)
        #expect(
            await failed(try await store.patch(name, MetadataPatch(), if: .none))
                == .invalidRequest)
        let copy = ObjectCopy(source: x, destination: name)
        #expect(await failed(try await store.move(copy)) == .invalidRequest)
        #expect(await failed(try await store.copy(copy)) == .invalidRequest)
        #expect(scripted.asked.isEmpty)
    }

    // MARK: Copy

    private var rewritten: ScriptedTransport.Step {
        .json(#"{"done":true,"totalBytesRewritten":"3","resource":\#(resource("d/y z", bytes, generation: 9))}"#)
    }

    @Test func aCopyGoesOnUntilItIsDone() async throws {
        let scripted = try ScriptedStore([
            .json(#"{"done":false,"rewriteToken":"t+1","totalBytesRewritten":"1"}"#),
            .json(#"{"done":false,"rewriteToken":"t2","totalBytesRewritten":2}"#), rewritten,
        ])
        let object = try await scripted.store.copy(copy)
        #expect(object.objectGeneration == ObjectGeneration(9))
        #expect(scripted.asked.map { $0.query("rewriteToken") } == [nil, "t%2B1", "t2"])
        let asked = scripted.asked[0]
        #expect(asked.path == "/storage/v1/b/demo/o/x/rewriteTo/b/demo/o/d%2Fy%20z")
        #expect(asked.query("ifSourceGenerationMatch") == "7" && asked.query("ifGenerationMatch") == "0")
        #expect(asked.body.isEmpty)
    }

    @Test func aCopyWithNewMetadataCarriesAllOfIt() async throws {
        var wanted = copy
        wanted.headers = ObjectHeaders(contentType: "image/png", custom: ["k": "v"])
        let scripted = try ScriptedStore([rewritten])
        _ = try await scripted.store.copy(wanted)
        #expect(scripted.asked[0].text == #"{"contentType":"image/png","metadata":{"k":"v"}}"#)
        wanted.headers = ObjectHeaders()
        let bare = try ScriptedStore([rewritten])
        _ = try await bare.store.copy(wanted)
        #expect(bare.asked[0].text == #"{"metadata":{}}"#)
    }

    @Test(arguments: [
        "{}", #"{"done":true}"#, #"{"done":false}"#, #"{"done":"yes"}"#, #"{"done":true,"resource":{}}"#,
        #"{"done":true,"resource":{"name":"other","generation":"1","size":"3"}}"#, #"{"error":{"message":"no"}}"#,
    ])
    func copiesThatMakeNoSenseFail(answer: String) async throws {
        let scripted = try ScriptedStore([.json(answer)])
        #expect(
            await failed(try await scripted.store.copy(copy)) == .malformedAnswer)
    }

    @Test func aCopyThatStandsStillIsGivenUp() async throws {
        let step = ScriptedTransport.Step.json(#"{"done":false,"rewriteToken":"t","totalBytesRewritten":"1"}"#)
        let scripted = try ScriptedStore([step, step, step])
        #expect(await failed(try await scripted.store.copy(copy)) == .serverFailed)
    }

    @Test func aCopyWhoseAnswerWasLostIsRecognised() async throws {
        let ours = try ScriptedStore([
            .failure(.connectionLost), .error(412), .json(resource("x", bytes)),
            .json(resource("d/y z", bytes, generation: 9)),
        ])
        #expect(try await ours.store.copy(copy).objectGeneration == ObjectGeneration(9))
        let theirs = try ScriptedStore([
            .failure(.connectionLost), .error(412), .json(resource("x", bytes)),
            .json(resource("d/y z", [4, 5, 6], generation: 9)),
        ])
        #expect(
            await failed(try await theirs.store.copy(copy)) == .preconditionFailed)
    }

    // MARK: Move

    private var movedObject: ScriptedTransport.Step { .json(resource("d/y z", bytes, generation: 9)) }

    @Test func aMoveIsOneCall() async throws {
        let scripted = try ScriptedStore([movedObject])
        #expect(try await scripted.store.move(copy).objectGeneration == ObjectGeneration(9))
        let asked = scripted.asked[0]
        #expect(asked.path == "/storage/v1/b/demo/o/x/moveTo/o/d%2Fy%20z")
        #expect(asked.query("ifSourceGenerationMatch") == "7" && asked.query("ifGenerationMatch") == "0")
    }

    @Test(arguments: [400, 405, 501])
    func aServiceWithoutMovesCopiesAndDeletesFromThenOn(status: Int) async throws {
        let scripted = try ScriptedStore([.error(status), rewritten, .answer(204), rewritten, .answer(204)])
        _ = try await scripted.store.move(copy)
        _ = try await scripted.store.move(copy)
        #expect(scripted.asked.map(\.request.method) == [.post, .post, .delete, .post, .delete])
        #expect(scripted.asked[2].query("ifGenerationMatch") == "7")
        #expect(scripted.asked[3].path.contains("rewriteTo"))
    }

    @Test func anUnknownRouteIsToldFromAMissingSource() async throws {
        let unknown = try ScriptedStore([.error(404), .json(resource("x", bytes)), rewritten, .answer(204)])
        _ = try await unknown.store.move(copy)
        let missing = try ScriptedStore([.error(404), .error(404), movedObject])
        #expect(await failed(try await missing.store.move(copy)) == .notFound)
        _ = try await missing.store.move(copy)
        #expect(missing.asked[2].path.contains("moveTo"))
    }

    @Test func aBadMoveOnAServiceThatHasMovesIsNotRememberedAgainstIt() async throws {
        let scripted = try ScriptedStore([.error(400), .error(400), movedObject])
        #expect(
            await failed(try await scripted.store.move(copy)) == .invalidRequest)
        _ = try await scripted.store.move(copy)
        #expect(scripted.asked[2].path.contains("moveTo"))
    }

    @Test func aMoveWithNewMetadataIsACopyAndADeletion() async throws {
        var wanted = copy
        wanted.sourceGeneration = nil
        wanted.headers = ObjectHeaders(contentType: "image/png")
        let scripted = try ScriptedStore([
            .json(resource("x", bytes, generation: 5)), rewritten, .error(404), .error(404),
        ])
        _ = try await scripted.store.move(wanted)
        #expect(scripted.asked[1].query("ifSourceGenerationMatch") == "5")
        #expect(scripted.asked[2].query("ifGenerationMatch") == "5")
    }

    @Test func aMoveWhoseAnswerWasLostIsRecognised() async throws {
        let ours = try ScriptedStore([.failure(.connectionLost), .error(404), .error(404), movedObject])
        #expect(try await ours.store.move(copy).objectGeneration == ObjectGeneration(9))
        let theirs = try ScriptedStore([.failure(.connectionLost), .error(412), .json(resource("x", bytes))])
        #expect(
            await failed(try await theirs.store.move(copy)) == .preconditionFailed)
    }

    @Test func whatWasDoneThoughItsAnswerIsDamagedIsRecognised() async throws {
        let damaged = ScriptedTransport.Step.json(#"{"kind":"#)
        let copied = try ScriptedStore([
            damaged, .json(resource("x", bytes)), .json(resource("d/y z", bytes, generation: 9)),
        ])
        #expect(try await copied.store.copy(copy).objectGeneration == ObjectGeneration(9))
        let moved = try ScriptedStore([damaged, .error(404), .json(resource("d/y z", bytes, generation: 9))])
        #expect(try await moved.store.move(copy).objectGeneration == ObjectGeneration(9))
        let notMoved = try ScriptedStore([damaged, .json(resource("x", bytes))])
        #expect(await failed(try await notMoved.store.move(copy)) == .malformedAnswer)
        let now = resource("x", bytes, metageneration: 2, metadata: #"{"a":"1"}"#)
        let patched = try ScriptedStore([damaged, .json(now)])
        let condition = Precondition(object: .mustBe(ObjectGeneration(7)), metageneration: Metageneration(1))
        let patch = MetadataPatch(custom: ["a": .set("1")])
        #expect(try await patched.store.patch(x, patch, if: condition).metageneration == Metageneration(2))
    }

    @Test func aMoveOntoSomethingNewFails() async throws {
        let scripted = try ScriptedStore([.error(412)])
        #expect(
            await failed(try await scripted.store.move(copy)) == .preconditionFailed
        )
        #expect(scripted.asked.count == 1)
    }

    // MARK: Compose

    @Test func aCompositionNamesItsPartsAndTheirGenerations() async throws {
        let scripted = try ScriptedStore([.json(resource("x", bytes))])
        _ = try await scripted.store.compose(
            Composition(
                sources: [(x, ObjectGeneration(7)), (ObjectName("tail\"é"), nil)], destination: x,
                headers: ObjectHeaders(contentType: "text/plain"), precondition: .mustBe(ObjectGeneration(7))))
        let asked = scripted.asked[0]
        #expect(asked.path == "/storage/v1/b/demo/o/x/compose")
        #expect(asked.query("ifGenerationMatch") == "7")
        #expect(
            asked.text == #"{"sourceObjects":[{"name":"x","objectPreconditions":{"ifGenerationMatch":"7"}},"#
                + #"{"name":"tail\"é"}],"destination":{"contentType":"text/plain"}}"#)
    }

    @Test(arguments: [nil, "XUFAKrxLKna5cZ2REBfFkg=="] as [String?])
    func aCompositionWhoseAnswerWasLostIsRecognisedByItsMetadata(md5: String?) async throws {
        let hash = md5.map { #","md5Hash":"\#($0)""# } ?? ""
        let now = String(resource("x", bytes, generation: 9, metadata: #"{"t":"1"}"#).dropLast()) + hash + "}"
        let scripted = try ScriptedStore([.failure(.connectionLost), .error(412), .json(now)])
        let composition = Composition(
            sources: [(x, nil)], destination: x, headers: ObjectHeaders(custom: ["t": "1"]),
            precondition: .mustBe(ObjectGeneration(7)))
        let kind = await failed(try await scripted.store.compose(composition))
        #expect(kind == (md5 == nil ? nil : .preconditionFailed))
    }

    // MARK: Credentials and time

    @Test func aRefusedTokenIsReplacedOnce() async throws {
        let scripted = try ScriptedStore(
            [.error(401), .json(resource("x", bytes))], credentials: TokenRow(["old", "new"]))
        _ = try await scripted.store.metadata(of: x)
        #expect(scripted.asked.map { $0.header("Authorization") } == ["Bearer old", "Bearer new"])
        let refused = try ScriptedStore(
            [.error(401), .error(401), .json("{}")], credentials: TokenRow(["old", "new", "newer"]))
        #expect(
            await failed(try await refused.store.metadata(of: x))
                == .unauthenticated)
        #expect(refused.asked.count == 2)
    }

    @Test func rateLimitsAreWaitedOut() async throws {
        let scripted = try ScriptedStore([
            .error(429, retryAfter: "3"), .error(403, reason: "rateLimitExceeded"), .json(resource("x", bytes)),
        ])
        _ = try await scripted.store.metadata(of: x)
        #expect(scripted.clock.pauses == [.seconds(3), .seconds(1)])
        let forbidden = try ScriptedStore([.error(403), .json(resource("x", bytes))])
        #expect(
            await failed(try await forbidden.store.metadata(of: x)) == .forbidden)
    }

    @Test func noCallOutlivesItsTime() async throws {
        let scripted = try ScriptedStore(Array(repeating: .failure(.notConnected), count: 100)) {
            $0.timeLimit = .seconds(10)
        }
        #expect(
            await failed(try await scripted.store.metadata(of: x)) == .unreachable)
        #expect(scripted.clock.pauses.reduce(.zero, +) < .seconds(10))
        #expect(scripted.asked.last?.request.deadline ?? .seconds(99) < .seconds(10))
    }
}
