import FoundationEssentials
import TestSupport
import Testing

struct FirebaseObjectTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test func theResourceIsMadeOfStrings() throws {
        server.firebaseUpload("photos/a b.png", "hello", json: #"{"contentType":"image/png","metadata":{"k":"v"}}"#)
        let answer = server.firebase("GET", "photos/a b.png")
        #expect(answer["Content-Type"] == "application/json; charset=UTF-8")
        let object = try #require(answer.firebaseObject)
        #expect(object.name == "photos/a b.png")
        #expect(object.bucket == "demo")
        #expect(object.metageneration == "1")
        #expect(object.contentType == "image/png")
        #expect(object.storageClass == "STANDARD")
        #expect(object.size == "5")
        #expect(object.md5Hash == "XUFAKrxLKna5cZ2REBfFkg==")
        #expect(object.crc32c == "mnG7TA==")
        #expect(object.contentEncoding == "identity")
        #expect(object.contentDisposition == "inline; filename*=utf-8''a%20b.png")
        #expect(object.contentLanguage == nil)
        #expect(object.metadata == ["k": "v"])
        #expect(object.timeCreated.count == 24)
        #expect(UUID(uuidString: object.downloadTokens) != nil)
    }

    @Test func objectsAreTheJSONAPIsObjects() throws {
        let uploaded = try #require(server.firebaseUpload("f", "hello").firebaseObject)
        let document = server.get("f").document
        #expect(document.generation == uploaded.generation)
        #expect(document.metadata == ["firebaseStorageDownloadTokens": uploaded.downloadTokens])
        #expect(server.media("f").text == "hello")
        server.put("f", "other")
        #expect(server.firebaseMedia("f").text == "other")
    }

    @Test func theFirstReadMakesADownloadToken() throws {
        server.put("f", "hello")
        server.put("g", "hello")
        let first = try #require(server.firebase("GET", "f").firebaseObject)
        #expect(!first.downloadTokens.isEmpty)
        #expect(first.metageneration == "2")
        #expect(first.metadata == nil)
        let second = try #require(server.firebase("GET", "f").firebaseObject)
        #expect(second.downloadTokens == first.downloadTokens)
        #expect(second.metageneration == "2")
        #expect(server.firebaseMedia("g")["x-goog-metageneration"] == "2")
    }

    // MARK: Changing metadata

    struct PatchCase: Sendable {
        let json: String
        var metadata: [String: String]? = ["keep": "1", "drop": "2"]
        var cacheControl: String? = "no-store"
        var contentType = "a/b"
        var contentEncoding = "identity"
        var contentLanguage: String?
    }

    @Test(arguments: [
        PatchCase(json: "{}"),
        PatchCase(json: #"{"cacheControl":null}"#, cacheControl: nil),
        PatchCase(json: #"{"contentType":"c/d","contentLanguage":"de"}"#, contentType: "c/d", contentLanguage: "de"),
        PatchCase(json: #"{"contentType":null}"#, contentType: "application/octet-stream"),
        PatchCase(json: #"{"contentEncoding":"br"}"#, contentEncoding: "br"),
        PatchCase(json: #"{"contentEncoding":null}"#),
        PatchCase(json: #"{"metadata":null}"#, metadata: nil),
        PatchCase(json: #"{"metadata":{"drop":null}}"#, metadata: ["keep": "1"]),
        PatchCase(json: #"{"metadata":{"drop":null,"keep":null}}"#, metadata: nil),
        PatchCase(
            json: #"{"metadata":{"n":5,"b":true}}"#, metadata: ["keep": "1", "drop": "2", "n": "5", "b": "true"]),
        PatchCase(json: #"{"bucket":"","name":"x","size":7,"crc32c":null,"etag":null,"downloadTokens":null}"#),
        PatchCase(json: #"{"storageClass":null,"nonsense":[{}],"generation":"1"}"#),
    ])
    func aPatchMerges(wanted: PatchCase) throws {
        let json = #"{"contentType":"a/b","cacheControl":"no-store","metadata":{"keep":"1","drop":"2"}}"#
        let before = try #require(server.firebaseUpload("f", "hello", json: json).firebaseObject)
        let after = try #require(server.firebase("PATCH", "f", json: wanted.json).firebaseObject)
        #expect(after.metadata == wanted.metadata)
        #expect(after.cacheControl == wanted.cacheControl)
        #expect(after.contentType == wanted.contentType)
        #expect(after.contentEncoding == wanted.contentEncoding)
        #expect(after.contentLanguage == wanted.contentLanguage)
        #expect(after.metageneration == "2")
        #expect(after.generation == before.generation)
        #expect(after.downloadTokens == before.downloadTokens)
        #expect(after.name == "f")
        #expect(after.size == "5")
    }

    @Test func tokensInThePatchAreAdded() throws {
        let before = try #require(server.firebaseUpload("f").firebaseObject)
        let json = #"{"metadata":{"firebaseStorageDownloadTokens":"mine","k":"v"}}"#
        let after = try #require(server.firebase("PATCH", "f", json: json).firebaseObject)
        #expect(after.downloadTokens == before.downloadTokens + ",mine")
        #expect(after.metadata == ["k": "v"])
    }

    @Test func aPatchMayComeAsAPut() {
        server.firebaseUpload("f", "hello")
        let override = [("X-HTTP-Method-Override", "PATCH")]
        let answer = server.firebase("PUT", "f", json: #"{"contentType":"c/d"}"#, override)
        #expect(answer.firebaseObject?.contentType == "c/d")
        #expect(server.firebaseMedia("f").text == "hello")
        // With POST it is an upload.
        _ = server.firebase("POST", "f", json: #"{"contentType":"e/f"}"#, override)
        #expect(server.firebaseMedia("f").text == #"{"contentType":"e/f"}"#)
    }

    // MARK: Deleting

    @Test func deletingAnswersNothing() {
        server.firebaseUpload("dir/f", "hello")
        #expect(server.firebase("DELETE", "dir").status == 404)
        #expect(server.firebase("DELETE", "dir/").status == 404)
        let answer = server.firebase("DELETE", "dir/f")
        #expect(answer.status == 204)
        #expect(answer.body.isEmpty)
        #expect(server.firebase("DELETE", "dir/f").status == 404)
    }

    // MARK: Tokens

    @Test func onlyTheOwnerChangesTokens() throws {
        let token = try #require(server.firebaseUpload("f").firebaseObject).downloadTokens
        #expect(server.firebase("POST", "f", query: "?create_token=true").status == 403)
        let created = server.firebase("POST", "f", query: "?create_token=true", [TestServer.owner]).firebaseObject
        #expect(created?.downloadTokens.split(separator: ",").count == 2)
        #expect(created?.metageneration == "2")
        let deleted = server.firebase(
            "POST", "f", query: "?delete_token=\(token)", [("Authorization", "Firebase owner")]
        ).firebaseObject
        #expect(deleted?.downloadTokens.split(separator: ",").count == 1)
        #expect(deleted?.downloadTokens.contains(token) == false)
        #expect(server.firebase("POST", "f", query: "?create_token=yes", [TestServer.owner]).status == 400)
        #expect(server.firebase("POST", "none", query: "?create_token=true", [TestServer.owner]).status == 404)
    }

    @Test func theLastTokenIsReplaced() throws {
        let token = try #require(server.firebaseUpload("f").firebaseObject).downloadTokens
        let after = server.firebase("POST", "f", query: "?delete_token=\(token)", [TestServer.owner]).firebaseObject
        #expect(after?.downloadTokens.isEmpty == false)
        #expect(after?.downloadTokens != token)
    }

    // MARK: Names

    @Test(arguments: ["a//b", "/a", "a/", "100%", "%41", "a+b", "ü/ñ", "a?b#c", "e\u{301}", "\u{e9}", "\u{1}"])
    func namesAreDecodedOnce(name: String) {
        server.firebaseUpload(name, name)
        let object = server.firebase("GET", name).firebaseObject
        #expect(object.map { Array($0.name.utf8) } == Array(name.utf8))
        #expect(server.firebaseMedia(name).text == name)
        #expect(server.media(name).text == name)
    }

    // MARK: Failures

    @Test func failuresHaveACodeAndAMessage() {
        for answer in [
            server.firebase("GET", "none"), server.firebaseMedia("none"), server.firebase("PATCH", "none", json: "{}"),
            server.call("GET", "/v0/b/none/o/f"),
        ] {
            #expect(answer.status == 404)
            #expect(answer.failure?.code == 404)
            #expect(answer.failure?.message.isEmpty == false)
        }
        #expect(server.firebase("PATCH", "none", json: "{").status == 400)
        #expect(server.call("GET", "/v0/b/demo").status == 404)
        #expect(server.call("DELETE", "/v0/b/demo/o").status == 405)
    }
}
