import BucketServer
import TestSupport
import Testing

struct ServerTests {
    @Test func everythingSurvivesARestart() throws {
        let server = try TestServer()
        server.put("a/é", "hello", type: "text/plain")
        _ = server.call("PATCH", "/storage/v1/b/demo/o/a%2F%C3%A9", json: #"{"metadata":{"k":"v"}}"#)
        server.put("gone", "x")
        _ = server.call("DELETE", "/storage/v1/b/demo/o/gone")
        _ = server.call("POST", "/storage/v1/b?project=p", json: #"{"name":"second"}"#)
        let before = server.get("a/é").document
        let again = try TestServer(restarting: server)
        let after = again.get("a/é").document
        #expect(after.generation == before.generation)
        #expect(after.metageneration == "2")
        #expect(after.metadata == ["k": "v"])
        #expect(again.media("a/é").text == "hello")
        #expect(again.get("gone").status == 404)
        #expect(again.call("GET", "/storage/v1/b/second").status == 200)
        let next = again.put("a/é", "x").document
        #expect(Int64(next.generation ?? "") ?? 0 > Int64(before.generation ?? "") ?? 0)
    }

    @Test func anUploadGoesOnAfterARestart() throws {
        var random = SplitMix64(seed: 9)
        let content = random.bytes(700_000)
        let server = try TestServer()
        let start = server.call("POST", "/upload/storage/v1/b/demo/o?uploadType=resumable&name=f", json: "{}")
        let id = start["X-GUploader-UploadID"] ?? ""
        let session = "/upload/storage/v1/b/demo/o?uploadType=resumable&upload_id=\(id)"
        _ = server.send(
            "PUT", session, [("Content-Range", "bytes 0-524287/*")], body: Array(content[..<524_288]))
        let again = try TestServer(restarting: server)
        #expect(
            again.send("PUT", session, [("Content-Range", "bytes */*")], body: [])["Range"] == "bytes=0-524287")
        let done = again.send(
            "PUT", session, [("Content-Range", "bytes 524288-699999/700000")], body: Array(content[524_288...]))
        #expect(done.status == 200)
        expectSame(again.media("f").body, content)
        let third = try TestServer(restarting: again)
        let asked = third.send("PUT", session, [("Content-Range", "bytes */*")], body: [])
        #expect(asked.document.generation == done.document.generation)
    }

    @Test func bucketsAreMadeListedAndRemoved() throws {
        let server = try TestServer()
        #expect(server.call("POST", "/storage/v1/b?project=p", json: #"{"name":"another"}"#).status == 200)
        #expect(server.call("POST", "/storage/v1/b?project=p", json: #"{"name":"another"}"#).status == 409)
        #expect(server.call("POST", "/storage/v1/b?project=p", json: #"{"name":"Not Good"}"#).status == 400)
        let names = server.call("GET", "/storage/v1/b?project=p").document.items?.compactMap(\.name)
        #expect(names == ["another", "demo"])
        server.put("f", "x")
        #expect(server.call("DELETE", "/storage/v1/b/demo").status == 409)
        #expect(server.call("DELETE", "/storage/v1/b/another").status == 204)
        #expect(server.call("GET", "/storage/v1/b/another").status == 404)
        #expect(server.call("GET", "/storage/v1/b/demo/storageLayout").text.contains(#""enabled":false"#))
    }

    @Test func onlyTheRightTokenIsLetIn() throws {
        let server = try TestServer { $0.acceptedToken = "right" }
        #expect(server.get("f").status == 401)
        #expect(server.get("f").reason == "authError")
        let path = "/storage/v1/b/demo/o/f"
        #expect(server.send("GET", path, [("Authorization", "Bearer wrong")]).status == 401)
        #expect(server.send("GET", path, [("Authorization", "Bearer right")]).status == 404)
        let form = "grant_type=refresh_token&refresh_token=good&client_id=x"
        let granted = server.send("POST", "/token", body: Array(form.utf8)).accessToken ?? ""
        #expect(granted.hasPrefix("local-"))
        #expect(server.send("GET", path, [("Authorization", "Bearer \(granted)")]).status == 404)
    }

    @Test(arguments: [
        ("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=a.b.c", 200, "Bearer"),
        ("grant_type=refresh_token&refresh_token=bad", 400, "invalid_grant"),
        ("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=bad", 400, "invalid_grant"),
        ("grant_type=password", 400, "unsupported_grant_type"),
    ])
    func tokensAreGranted(form: String, status: Int, contains: String) throws {
        let answer = try TestServer().send("POST", "/token", body: Array(form.utf8))
        #expect(answer.status == status)
        #expect(answer.text.contains(contains))
    }

    @Test func aPortInUseIsNamed() throws {
        let server = try TestServer()
        let directory = temporaryDirectory()
        var configuration = LocalServer.Configuration(dataDirectory: directory.path)
        configuration.port = server.port
        let error = #expect(throws: ServerError.self) { try LocalServer(configuration).start() }
        #expect(error?.description.contains("port \(server.port)") == true)
    }

    @Test func aSecondServerIsKeptOutOfADirectory() throws {
        let server = try TestServer()
        let error = #expect(throws: ServerError.self) {
            try LocalServer(LocalServer.Configuration(dataDirectory: server.directory.path))
        }
        #expect(error?.description.contains("another server") == true)
        #expect(try TestServer(restarting: server).put("f", "x").status == 200)
    }

    @Test func anUnusableDirectoryIsNamed() {
        let error = #expect(throws: ServerError.self) {
            try LocalServer(LocalServer.Configuration(dataDirectory: "/proc/none"))
        }
        #expect(error?.description.contains("/proc/none") == true)
    }

    @Test func aBatchMayHaveBareLineFeeds() throws {
        let server = try TestServer()
        server.put("a", "x")
        let body = """
            --===1==\nContent-Type: application/http\n\nDELETE /storage/v1/b/demo/o/a HTTP/1.1\n\n\n--===1==--
            """
        let answer = server.send(
            "POST", "/batch/storage/v1", [("Content-Type", "multipart/mixed; boundary====1==")], body: Array(body.utf8))
        #expect(answer.text.contains("HTTP/1.1 204"))
        #expect(server.get("a").status == 404)
    }

    @Test func aBatchAnswersPartByPart() throws {
        let server = try TestServer()
        server.put("a", "x")
        let body = """
            --b\r\nContent-Type: application/http\r\nContent-ID: <1>\r\n\r\n\
            DELETE /storage/v1/b/demo/o/a HTTP/1.1\r\n\r\n\r\n\
            --b\r\nContent-Type: application/http\r\nContent-ID: <2>\r\n\r\n\
            GET http://anywhere/storage/v1/b/demo/o/a HTTP/1.1\r\n\r\n\r\n\
            --b\r\nContent-Type: application/http\r\n\r\n\
            POST /storage/v1/b?project=p HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{"name":"made"}\r\n\
            --b--\r\n
            """
        let answer = server.send(
            "POST", "/batch/storage/v1", [("Content-Type", "multipart/mixed; boundary=b")], body: Array(body.utf8))
        #expect(answer.status == 200)
        let statuses = answer.text.split(separator: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
        #expect(statuses == ["204", "404", "200"])
        #expect(answer.text.contains("Content-ID: <response-2>"))
        #expect(server.call("GET", "/storage/v1/b/made").status == 200)
    }

    @Test func theRequestLogCountsOperations() throws {
        let server = try TestServer()
        _ = server.call("DELETE", "/_firemount/requests")
        server.put("a/b", "hello")
        _ = server.media("a/b", [("Range", "bytes=1-2")])
        _ = server.get("none")
        let log = server.call("GET", "/_firemount/requests").text
        let counts = #""storage.objects.get":1,"storage.objects.insert":1,"storage.objects.media":1"#
        #expect(log.hasPrefix(#"{"counts":{\#(counts)},"bytesReceived":5"#))
        #expect(log.contains(#"{"operation":"storage.objects.get","name":"none","status":404,"range":null}"#))
        _ = server.call("DELETE", "/_firemount/requests")
        #expect(server.call("GET", "/_firemount/requests").text.hasPrefix(#"{"counts":{},"#))
    }
}
