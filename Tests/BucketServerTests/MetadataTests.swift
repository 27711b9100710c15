import Testing

struct MetadataTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        let body = """
            --x\r\n\r\n{"name":"f","contentType":"a/b","cacheControl":"no-store",\
            "metadata":{"keep":"1","drop":"2"}}\r\n\
            --x\r\n\r\nhello\r\n--x--\r\n
            """
        let answer = server.send(
            "POST", "/upload/storage/v1/b/demo/o?uploadType=multipart",
            [("Content-Type", "multipart/related; boundary=x")], body: Array(body.utf8))
        #expect(answer.status == 200)
    }

    private func patch(_ json: String, query: String = "") -> Answer {
        server.call("PATCH", "/storage/v1/b/demo/o/f\(query)", json: json)
    }

    @Test func aPatchMerges() {
        let changed = patch(#"{"cacheControl":null,"contentLanguage":"de","metadata":{"drop":null,"new":"3"}}"#)
            .document
        #expect(changed.cacheControl == nil)
        #expect(changed.contentType == "a/b")
        #expect(changed.metadata == ["keep": "1", "new": "3"])
        #expect(changed.metageneration == "2")
        #expect(changed.size == "5")
    }

    @Test func aNullMapRemovesAllCustomMetadata() {
        #expect(patch(#"{"metadata":null}"#).document.metadata == nil)
        #expect(patch(#"{"metadata":{"keep":null}}"#).document.metadata == nil)
    }

    @Test func valuesThatAreNoStringsBecomeStrings() {
        #expect(patch(#"{"metadata":{"n":5,"b":true}}"#).document.metadata?["n"] == "5")
        #expect(server.get("f").document.metadata?["b"] == "true")
    }

    @Test func readOnlyAndUnknownMembersAreIgnored() {
        let changed = patch(#"{"size":1,"name":"other","bucket":"","etag":null,"nonsense":[1]}"#).document
        #expect(changed.name == "f")
        #expect(changed.size == "5")
    }

    @Test func aPatchMayComeAsAPost() {
        let answer = server.call(
            "POST", "/storage/v1/b/demo/o/f", json: #"{"contentType":"c/d"}"#, [("X-HTTP-Method-Override", "PATCH")])
        #expect(answer.document.contentType == "c/d")
        #expect(server.call("POST", "/storage/v1/b/demo/o/f", json: "{}").status == 405)
    }

    @Test func anUpdateReplaces() {
        let changed = server.call("PUT", "/storage/v1/b/demo/o/f", json: #"{"metadata":{"only":"this"}}"#).document
        #expect(changed.contentType == nil)
        #expect(changed.cacheControl == nil)
        #expect(changed.metadata == ["only": "this"])
    }

    @Test func theEtagChangesWithTheMetadata() {
        let before = server.get("f").document
        let after = patch("{}").document
        #expect(before.etag != after.etag)
        #expect(before.generation == after.generation)
    }

    @Test func textSurvivesAsItIs() {
        _ = patch(#"{"metadata":{"k":"quote \" slash \\ tab \t ünïcode \u0001 \ud83d\ude00"}}"#)
        #expect(server.get("f").document.metadata?["k"] == "quote \" slash \\ tab \t ünïcode \u{1} 😀")
    }

    @Test func aBodyThatIsNoJSONIsRefused() {
        #expect(patch("{not json").status == 400)
        #expect(patch("[]").status == 400)
        #expect(server.get("f").document.metageneration == "1")
    }

    @Test func changingWhatIsMissingIsNotFound() {
        #expect(server.call("PATCH", "/storage/v1/b/demo/o/none", json: "{}").status == 404)
        #expect(server.call("DELETE", "/storage/v1/b/demo/o/none").status == 404)
    }
}
