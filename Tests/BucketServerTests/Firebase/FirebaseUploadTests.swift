import TestSupport
import Testing

struct FirebaseUploadTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test func twoPartsBecomeAnObject() throws {
        let answer = server.firebaseUpload(
            "notes/hello.txt", "hello",
            json: #"{"name":"ignored","contentType":"text/css","contentEncoding":"identity","metadata":{"k":1}}"#)
        let object = try #require(answer.firebaseObject)
        #expect(answer.status == 200)
        #expect(object.name == "notes/hello.txt")
        #expect(object.contentType == "text/css")
        #expect(object.metadata == ["k": "1"])
        #expect(server.firebaseMedia("notes/hello.txt").text == "hello")
    }

    @Test func theTypeOfTheSecondPartServesIfTheMetadataHasNone() {
        #expect(server.firebaseUpload("f").firebaseObject?.contentType == "text/plain")
    }

    @Test func everyUploadHasANewToken() {
        let first = server.firebaseUpload("f").firebaseObject?.downloadTokens
        let second = server.firebaseUpload("f").firebaseObject?.downloadTokens
        #expect(first != second)
        let mine = #"{"metadata":{"firebaseStorageDownloadTokens":"mine"}}"#
        #expect(server.firebaseUpload("f", json: mine).firebaseObject?.downloadTokens == "mine")
    }

    struct BadCase: Sendable {
        var target = "/v0/b/demo/o?name=f"
        var type = "multipart/related; boundary=b"
        var body = "--b\r\nContent-Type: application/json\r\n\r\n{}\r\n--b\r\nContent-Type: a/b\r\n\r\nx\r\n--b--\r\n"
        let status: Int
    }

    @Test(arguments: [
        BadCase(status: 200),
        BadCase(target: "/v0/b/demo/o", status: 400),
        BadCase(target: "/v0/b/none/o?name=f", status: 404),
        BadCase(type: "text/plain", status: 400),
        BadCase(type: "multipart/related", status: 400),
        BadCase(body: "--b\r\nContent-Type: application/json\r\n\r\n{}\r\n--b--\r\n", status: 400),
        BadCase(body: "--b\r\nContent-Type: application/json\r\n\r\n{\r\n--b\r\n\r\nx\r\n--b--\r\n", status: 400),
        BadCase(body: "nothing", status: 400),
    ])
    func aBadMultipartBodyIsRefused(wanted: BadCase) {
        let answer = server.send(
            "POST", wanted.target, [("X-Goog-Upload-Protocol", "multipart"), ("Content-Type", wanted.type)],
            body: Array(wanted.body.utf8))
        #expect(answer.status == wanted.status)
        #expect((answer.failure != nil) == (wanted.status != 200))
    }

    @Test func aPlainBodyIsTheObject() throws {
        let answer = server.send(
            "POST", "/v0/b/demo/o?name=dir%2Ff", [("Content-Type", "image/gif")], body: Array("hello".utf8))
        #expect(answer.firebaseObject?.contentType == "image/gif")
        #expect(answer.firebaseObject?.name == "dir/f")
        let put = server.send("PUT", "/v0/b/demo/o/dir%2Fg", [], body: Array("other".utf8))
        #expect(put.firebaseObject?.contentType == "application/octet-stream")
        #expect(server.firebaseMedia("dir/g").text == "other")
    }
}

struct BlockedKindsTests {
    @Test(arguments: ["a.exe", "dir/b.DLL", "c.bat", "d.tar.apk", "e.ipa"])
    func programsAreRefusedWhereTheyAreBlocked(name: String) throws {
        let server = try TestServer { $0.blocksExecutables = true }
        #expect(server.firebaseUpload(name).status == 403)
        let start = server.firebase("POST", name, json: "{}", [("X-Goog-Upload-Command", "start")])
        #expect(start.status == 403)
        #expect(try TestServer().firebaseUpload(name).status == 200)
    }

    @Test(arguments: ["exe", "a.exe.txt", "a.executable", "a.exe/b"])
    func otherNamesAreNot(name: String) throws {
        let server = try TestServer { $0.blocksExecutables = true }
        #expect(server.firebaseUpload(name).status == 200)
    }
}
