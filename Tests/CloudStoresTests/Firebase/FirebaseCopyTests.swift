import HTTPTransport
import ObjectStore
import Testing

@testable import CloudStores

struct FirebaseCopyTests {
    typealias Step = ScriptedTransport.Step

    let hello = Array("hello".utf8)
    private let source = ObjectName("d/a b")
    private let destination = ObjectName("x")

    private func copy(if precondition: Precondition = .none) -> ObjectCopy {
        ObjectCopy(
            source: source, sourceGeneration: ObjectGeneration(7), destination: destination,
            precondition: precondition)
    }

    private func metadata(_ bytes: [UInt8], disposition: String = "inline") -> Step {
        .json(firebaseResource("d/a b", bytes, tokens: "t1,t2", disposition: disposition))
    }

    @Test func aSmallObjectIsReadAndStoredWithMetadataAndTokens() async throws {
        let made = "inline; filename*=utf-8''a%20b"
        let scripted = try ScriptedFirebase(
            [
                metadata(hello, disposition: made), range(0..<5, of: hello),
                .json(firebaseResource("x", hello, generation: 9, tokens: "t1,t2")),
            ])
        let copied = try await scripted.store.copy(copy())
        #expect(copied.headers.downloadTokens == "t1,t2")
        let insert = scripted.asked[2]
        #expect(insert.text.contains(#""metadata":{"firebaseStorageDownloadTokens":"t1,t2","k":"v"}"#))
        #expect(insert.text.contains(#""contentType":"text/plain""#))
        #expect(!insert.text.contains("contentDisposition"), "it was made from the old name")
        #expect(insert.text.contains("\r\n\r\nhello\r\n--"))
    }

    @Test func tokensThatTheServerReplacedAreSetAgain() async throws {
        let scripted = try ScriptedFirebase(
            [
                metadata(hello), range(0..<5, of: hello),
                .json(firebaseResource("x", hello, generation: 9, tokens: "new")),
                .json(firebaseResource("x", hello, generation: 9, tokens: "new")),
                .json(firebaseResource("x", hello, generation: 9, metageneration: 2, tokens: "new,t1,t2")),
            ])
        let copied = try await scripted.store.copy(copy())
        #expect(copied.headers.downloadTokens == "new,t1,t2")
        #expect(scripted.asked[4].text == #"{"metadata":{"firebaseStorageDownloadTokens":"t1,t2"}}"#)
    }

    @Test func aLargeObjectTravelsPieceByPiece() async throws {
        let bytes = pattern(9 << 20)
        let piece = 4 << 20
        let scripted = try ScriptedFirebase(
            [
                metadata(bytes), .opened, range(0..<piece, of: bytes), .session(200, "active"),
                range(piece..<2 * piece, of: bytes), .session(200, "active"), range(2 * piece..<9 << 20, of: bytes),
                .session(200, "final", firebaseResource("x", bytes, generation: 9, tokens: "t1,t2")),
            ], pieceSize: 1 << 20)
        #expect(try await scripted.store.copy(copy()).size == 9 << 20)
        let sent = scripted.asked.filter { $0.header("X-Goog-Upload-Offset") != nil }.flatMap(\.body)
        #expect(checksum(of: sent) == checksum(of: bytes))
        #expect(scripted.asked[4].header("Range") == "bytes=\(piece)-\(2 * piece - 1)")
    }

    @Test func whatWasDamagedOnTheWayIsNotStored() async throws {
        let bytes = pattern(300_000)
        var damaged = bytes
        damaged[5] ^= 1
        let scripted = try ScriptedFirebase(
            [
                metadata(bytes), .opened, .answer(206, mediaHead(of: bytes, 0..<300_000), damaged),
                .answer(206, mediaHead(of: bytes, 0..<300_000), damaged), .session(200, "cancelled"),
            ])
        #expect(await failure(of: try await scripted.store.copy(copy()))?.kind == .corrupted)
        #expect(scripted.course.last == "POST cancel")
    }

    @Test func aSourceThatWasReplacedIsNotCopied() async throws {
        let scripted = try ScriptedFirebase([.json(firebaseResource("d/a b", hello, generation: 8))])
        #expect(await failure(of: try await scripted.store.copy(copy()))?.kind == .preconditionFailed)
        #expect(scripted.course == ["GET"])
    }

    @Test func aMoveDeletesTheVersionThatItCopied() async throws {
        let scripted = try ScriptedFirebase(
            [
                metadata(hello), range(0..<5, of: hello), .error(404),
                .json(firebaseResource("x", hello, generation: 9, tokens: "t1,t2")), metadata(hello), .answer(204),
            ])
        _ = try await scripted.store.move(copy(if: .mustNotExist))
        #expect(scripted.course == ["GET", "GET", "GET", "POST", "GET", "DELETE"])
        #expect(scripted.asked.last?.path == "/v0/b/demo/o/d%2Fa%20b")
    }
}
