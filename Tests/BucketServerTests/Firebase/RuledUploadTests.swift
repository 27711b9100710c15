import FoundationEssentials
import TestSupport
import Testing

/// Rules are asked at an upload's start, as far as they can tell then, and at its end.
struct RuledUploadTests {
    private let folder: TemporaryDirectory
    private let server: TestServer

    init() throws {
        folder = temporaryDirectory()
        let path = folder.path + "/storage.rules"
        try Self.write("request.resource.size < 10", to: path)
        server = try TestServer { $0.rulesFile = path }
    }

    private static func write(_ condition: String, to path: String) throws {
        let rules = """
            rules_version = '2';
            service firebase.storage { match /b/{bucket}/o { match /{file=**} {
              allow read;
              allow write: if \(condition);
            } } }
            """
        try Data(rules.utf8).write(to: URL(filePath: path))
    }

    private func rule(_ condition: String) throws { try Self.write(condition, to: folder.path + "/storage.rules") }

    private func start(_ headers: [(String, String)] = [], json: String = "{}") -> Answer {
        server.firebase("POST", "f", json: json, [("X-Goog-Upload-Command", "start")] + headers)
    }

    private func finalize(_ start: Answer, _ body: String, _ word: String = "upload, finalize") -> Answer {
        let session = (start["X-Goog-Upload-URL"] ?? "").dropFirst("http://127.0.0.1:\(server.port)".count)
        return server.send(
            "POST", String(session), [("X-Goog-Upload-Command", word), ("X-Goog-Upload-Offset", "0")],
            body: Array(body.utf8))
    }

    @Test func anAnnouncedSizeIsRefusedAtTheStart() {
        #expect(start([("X-Goog-Upload-Header-Content-Length", "10")]).status == 403)
        #expect(start([("X-Goog-Upload-Header-Content-Length", "9")]).status == 200)
    }

    @Test func metadataIsRefusedAtTheStart() throws {
        try rule("request.resource.contentType.matches('image/.*') && request.resource.metadata.owner == 'me'")
        #expect(start(json: #"{"contentType":"text/plain","metadata":{"owner":"me"}}"#).status == 403)
        #expect(start(json: #"{"contentType":"image/png"}"#).status == 403)
        #expect(start(json: #"{"contentType":"image/png","metadata":{"owner":"me"}}"#).status == 200)
    }

    @Test func aSizeThatIsNotAnnouncedIsRefusedAtTheEnd() throws {
        let begun = start()
        #expect(begun.status == 200)
        let end = finalize(begun, "0123456789")
        #expect(end.status == 403)
        #expect(end.uploadStatus == "final")
        #expect(end.failure?.message.contains("storage.rules:4") == true)
        #expect(server.firebase("GET", "f").status == 404)
        // It stays refused, whatever is asked.
        for word in ["finalize", "query"] {
            let again = finalize(begun, "", word)
            #expect(again.status == 403)
            #expect(again.uploadStatus == "final")
            #expect(again.failure?.message == end.failure?.message)
        }
        #expect(finalize(begun, "", "cancel").status == 400)
    }

    @Test func aHashIsKnownAtTheEnd() throws {
        try rule("request.resource.md5Hash == 'XUFAKrxLKna5cZ2REBfFkg=='")
        let begun = start([("X-Goog-Upload-Header-Content-Length", "5")])
        #expect(begun.status == 200)
        #expect(finalize(begun, "hello").status == 200)
        #expect(finalize(start(), "other").status == 403)
        #expect(server.firebaseMedia("f").text == "hello")
    }

    @Test func rulesThatChangeMeanwhileCount() throws {
        let begun = start()
        try rule("false")
        #expect(finalize(begun, "hello").status == 403)
    }

    @Test func theCredentialIsThatOfTheStart() throws {
        try rule("request.auth.uid == 'u1'")
        let token = "\(base64URL(#"{"alg":"none"}"#)).\(base64URL(#"{"iat":0,"user_id":"u1"}"#))."
        #expect(start().status == 403)
        let begun = start([("Authorization", "Firebase \(token)")])
        #expect(finalize(begun, "hello").status == 200)
    }

    @Test func otherUploadsAreRefusedToo() {
        #expect(server.firebaseUpload("f", "0123456789").status == 403)
        #expect(server.firebaseUpload("f", "012345678").status == 200)
        let media = server.send("POST", "/v0/b/demo/o?name=g", [], body: Array("0123456789".utf8))
        #expect(media.status == 403)
        #expect(server.firebase("GET", "g").status == 404)
    }

    @Test func aDownloadTokenSkipsTheRules() throws {
        let token = server.firebaseUpload("f", "hello").firebaseObject?.downloadTokens ?? ""
        let rules = "service firebase.storage { }"
        try Data(rules.utf8).write(to: URL(filePath: folder.path + "/storage.rules"))
        #expect(server.firebaseMedia("f").status == 403)
        #expect(server.firebaseMedia("f", query: "&token=wrong").status == 403)
        #expect(server.firebaseMedia("f", query: "&token=\(token)").text == "hello")
        #expect(server.firebaseMedia("none", query: "&token=").status == 403)
    }
}
