import TestSupport
import Testing

struct FirebaseResumableTests {
    private static let granule = 262_144

    private let server: TestServer
    private let content: [UInt8]

    init() throws {
        server = try TestServer()
        var random = SplitMix64(seed: 11)
        content = random.bytes(700_000)
    }

    /// - Returns: the session's address, without the server's.
    private func start(_ headers: [(String, String)] = [], json: String = "{}") -> String {
        let answer = startAnswer(headers, json: json)
        #expect(answer.status == 200)
        return session(of: answer)
    }

    private func startAnswer(_ headers: [(String, String)] = [], json: String = "{}") -> Answer {
        server.call(
            "POST", "/v0/b/demo/o/f?uploadType=resumable&name=f", json: json,
            [("X-Goog-Upload-Protocol", "resumable"), ("X-Goog-Upload-Command", "start")] + headers)
    }

    private func session(of answer: Answer) -> String {
        let url = answer["X-Goog-Upload-URL"] ?? ""
        return String(url.dropFirst("http://127.0.0.1:\(server.port)".count))
    }

    private func command(
        _ command: String, _ session: String, _ range: Range<Int>? = nil, offset: Int? = nil, method: String = "POST"
    ) -> Answer {
        var headers = [("X-Goog-Upload-Command", command)]
        if let offset = offset ?? range?.lowerBound { headers.append(("X-Goog-Upload-Offset", String(offset))) }
        return server.send(method, session, headers, body: range.map { Array(content[$0]) } ?? [])
    }

    @Test func aStartAnswersWithTheSession() {
        let answer = startAnswer()
        #expect(answer.status == 200)
        #expect(answer.uploadStatus == "active")
        #expect(answer["X-Goog-Upload-Chunk-Granularity"] == "262144")
        #expect(answer["X-Goog-Upload-Control-URL"] == answer["X-Goog-Upload-URL"])
        #expect(answer["X-GUploader-UploadID"]?.isEmpty == false)
        #expect(
            answer["X-Goog-Upload-URL"]?.hasPrefix("http://127.0.0.1:\(server.port)/v0/b/demo/o?name=f&upload_id=")
                == true)
        #expect(answer.body.isEmpty)
    }

    @Test(arguments: ["POST", "PUT"])
    func chunksBecomeOneObject(method: String) throws {
        let session = start(json: #"{"contentType":"image/png","metadata":{"a":"b"}}"#)
        #expect(command("query", session)["X-Goog-Upload-Size-Received"] == "0")
        let first = command("upload", session, 0..<Self.granule, method: method)
        #expect(first.status == 200)
        #expect(first.uploadStatus == "active")
        #expect(command("query", session, method: method)["X-Goog-Upload-Size-Received"] == "262144")
        #expect(server.firebase("GET", "f").status == 404)
        let last = command("upload, finalize", session, Self.granule..<700_000, method: method)
        #expect(last.status == 200)
        #expect(last.uploadStatus == "final")
        let object = try #require(last.firebaseObject)
        #expect(object.size == "700000")
        #expect(object.contentType == "image/png")
        #expect(object.metadata == ["a": "b"])
        expectSame(server.firebaseMedia("f").body, content)
        #expect(server.connections == 1)
    }

    @Test(arguments: ["X-Goog-Upload-Header-Content", "X-Goog-Upload-Content"])
    func bothSpellingsOfTheAnnouncementCount(prefix: String) {
        let session = start([("\(prefix)-Length", "5"), ("\(prefix)-Type", "audio/ogg")])
        let short = command("upload,finalize", session, 0..<4)
        #expect(short.status == 400)
        #expect(short.uploadStatus == "active")
        let done = command("upload,finalize", start([("\(prefix)-Type", "audio/ogg")]), 0..<5)
        #expect(done.firebaseObject?.contentType == "audio/ogg")
    }

    @Test(arguments: ["-1", "x", "99999999999999999999"])
    func anAnnouncementThatIsNoSizeIsRefused(size: String) {
        #expect(startAnswer([("X-Goog-Upload-Header-Content-Length", size)]).status == 400)
    }

    struct FinalizeCase: Sendable {
        let command: String
        let length: Int
    }

    @Test(arguments: [
        FinalizeCase(command: "upload, finalize", length: 5), FinalizeCase(command: "upload,finalize", length: 5),
        FinalizeCase(command: "upload, finalize", length: 0), FinalizeCase(command: "finalize", length: 0),
        FinalizeCase(command: "Upload, Finalize", length: 262_144),
    ])
    func theLastCommandMayBeSpelledInManyWays(wanted: FinalizeCase) {
        let answer = command(wanted.command, start(), 0..<wanted.length)
        #expect(answer.uploadStatus == "final")
        #expect(answer.firebaseObject?.size == String(wanted.length))
    }

    @Test func aFinalizeAloneEndsWhatHasCome() {
        let session = start()
        _ = command("upload", session, 0..<Self.granule)
        #expect(command("finalize", session).firebaseObject?.size == "262144")
    }

    // MARK: The odd cases

    @Test(arguments: [0, 100_000, 262_143, 524_288])
    func aWrongOffsetIsAConflict(offset: Int) {
        let session = start()
        _ = command("upload", session, 0..<Self.granule)
        let answer = command("upload", session, 0..<Self.granule, offset: offset)
        #expect(answer.status == 409)
        #expect(answer.uploadStatus == "active")
        #expect(command("query", session)["X-Goog-Upload-Size-Received"] == "262144")
        #expect(command("upload, finalize", session, Self.granule..<700_000).status == 200)
        expectSame(server.firebaseMedia("f").body, content)
    }

    @Test func aChunkIsAMultipleOfTheGranularity() {
        let session = start()
        let answer = command("upload", session, 0..<300_000)
        #expect(answer.status == 400)
        #expect(answer.uploadStatus == "active")
        #expect(command("query", session)["X-Goog-Upload-Size-Received"] == "0")
        #expect(command("upload", session, 0..<0).status == 200)
    }

    @Test func aFinishedUploadTellsItsObjectAgain() throws {
        let session = start()
        let object = try #require(command("upload, finalize", session, 0..<5).firebaseObject)
        let query = command("query", session)
        #expect(query.status == 200)
        #expect(query.uploadStatus == "final")
        #expect(query["X-Goog-Upload-Size-Received"] == nil)
        #expect(query.firebaseObject?.generation == object.generation)
        let again = command("finalize", session)
        #expect(again.status == 200)
        #expect(again.uploadStatus == "final")
        #expect(again.firebaseObject?.generation == object.generation)
        for refused in [
            command("upload", session, 0..<0), command("upload, finalize", session, 0..<5), command("cancel", session),
        ] {
            #expect(refused.status == 400)
            #expect(refused.uploadStatus == "final")
        }
        #expect(server.firebase("GET", "f").firebaseObject?.generation == object.generation)
    }

    @Test func aFinishedUploadIsFinalAlsoWhenItsObjectIsReplaced() {
        let session = start()
        #expect(command("upload, finalize", session, 0..<5).uploadStatus == "final")
        server.put("f", "other")
        for word in ["query", "finalize"] {
            let answer = command(word, session)
            #expect(answer.status == 200)
            #expect(answer.uploadStatus == "final")
            #expect(answer.body.isEmpty)
        }
        #expect(server.firebaseMedia("f").text == "other")
    }

    @Test func aCancelledUploadIsOver() throws {
        let session = start()
        _ = command("upload", session, 0..<Self.granule)
        for _ in 0..<2 {
            let answer = command("cancel", session)
            #expect(answer.status == 200)
            #expect(answer.uploadStatus == "cancelled")
        }
        let query = command("query", session)
        #expect(query.status == 410)
        #expect(query.uploadStatus == "cancelled")
        for refused in [command("upload", session, 0..<0), command("finalize", session)] {
            #expect(refused.status == 400)
            #expect(refused.uploadStatus == "cancelled")
        }
        #expect(server.firebase("GET", "f").status == 404)
    }

    struct BadCase: Sendable {
        let target: String
        let headers: [(String, String)]
        let status: Int
    }

    @Test(arguments: [
        BadCase(target: "?name=f", headers: [("X-Goog-Upload-Protocol", "resumable")], status: 400),
        BadCase(target: "", headers: [("X-Goog-Upload-Command", "start")], status: 400),
        BadCase(target: "?name=f", headers: [("X-Goog-Upload-Command", "start")], status: 200),
        BadCase(target: "?name=f", headers: [("X-Goog-Upload-Command", "query")], status: 400),
        BadCase(target: "?upload_id=none", headers: [("X-Goog-Upload-Command", "query")], status: 404),
        BadCase(target: "?upload_id=none", headers: [("X-Goog-Upload-Command", "upload")], status: 404),
    ])
    func requestsWithoutASessionAreRefused(wanted: BadCase) {
        let answer = server.send("POST", "/v0/b/demo/o\(wanted.target)", wanted.headers, body: [])
        #expect(answer.status == wanted.status)
        if wanted.status != 200 { #expect(answer.uploadStatus == nil) }
    }

    @Test func anUnknownCommandIsRefused() {
        #expect(command("dance", start()).status == 400)
        #expect(command("", start()).status == 400)
    }

    @Test func theJSONAPIsSessionsAreNotFirebases() {
        let answer = server.call("POST", "/upload/storage/v1/b/demo/o?uploadType=resumable&name=f", json: "{}")
        let id = answer["X-GUploader-UploadID"] ?? ""
        #expect(!id.isEmpty)
        #expect(command("query", "/v0/b/demo/o?upload_id=\(id)").status == 404)
    }

    @Test func uploadsGoOnAfterARestart() throws {
        let unfinished = start()
        _ = command("upload", unfinished, 0..<Self.granule)
        let finished = start()
        let object = try #require(command("upload, finalize", finished, 0..<5).firebaseObject)
        let cancelled = start()
        _ = command("cancel", cancelled)
        let other = try TestServer(restarting: server)
        func send(_ word: String, _ session: String, _ body: [UInt8] = [], offset: Int = 0) -> Answer {
            other.send(
                "POST", session, [("X-Goog-Upload-Command", word), ("X-Goog-Upload-Offset", String(offset))], body: body
            )
        }
        #expect(send("query", finished).firebaseObject?.generation == object.generation)
        #expect(send("query", cancelled).status == 410)
        #expect(send("cancel", cancelled).status == 200)
        #expect(send("query", unfinished)["X-Goog-Upload-Size-Received"] == "262144")
        let rest = Array(content[Self.granule...])
        #expect(send("upload, finalize", unfinished, rest, offset: Self.granule).status == 200)
        expectSame(other.firebaseMedia("f").body, content)
    }
}
