import FoundationEssentials
import TestSupport
import Testing

/// Faults strike Firebase's and Auth's operations too, by their own names, and the log counts them.
struct FirebaseFaultTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    private func start() -> String {
        let answer = server.firebase("POST", "f", json: "{}", [("X-Goog-Upload-Command", "start")])
        return String((answer["X-Goog-Upload-URL"] ?? "").dropFirst("http://127.0.0.1:\(server.port)".count))
    }

    private func command(_ command: String, _ session: String, _ body: [UInt8] = [], offset: Int = 0) -> Answer {
        server.send(
            "POST", session, [("X-Goog-Upload-Command", command), ("X-Goog-Upload-Offset", String(offset))], body: body)
    }

    private func perform(_ operation: String) -> Answer {
        switch operation {
        case "firebase.objects.get": return server.firebase("GET", "f")
        case "firebase.objects.media": return server.firebaseMedia("f")
        case "firebase.objects.list": return server.send("GET", "/v0/b/demo/o")
        case "firebase.objects.insert": return server.firebaseUpload("f", "other")
        case "firebase.objects.patch": return server.firebase("PATCH", "f", json: "{}")
        case "firebase.objects.tokens":
            return server.firebase("POST", "f", query: "?create_token=true", [TestServer.owner])
        case "firebase.uploads.start":
            return server.firebase("POST", "f", json: "{}", [("X-Goog-Upload-Command", "start")])
        case "firebase.uploads.query": return command("query", start())
        case "firebase.uploads.chunk": return command("finalize", start())
        case "firebase.uploads.cancel": return command("cancel", start())
        case "firebase.objects.delete": return server.firebase("DELETE", "f")
        case "auth.signUp": return server.auth("signUp", "{}")
        case "auth.signInWithPassword":
            return server.auth("signInWithPassword", #"{"email":"a@example.com","password":"secret12"}"#)
        case "auth.signInWithCustomToken":
            return server.auth("signInWithCustomToken", #"{"token":"{\"uid\":\"u\"}"}"#)
        case "auth.lookup": return server.auth("lookup", #"{"localId":["u"]}"#, [TestServer.owner])
        case "auth.token":
            let token = server.auth("signUp", "{}").signIn?.refreshToken ?? ""
            return server.refresh("grant_type=refresh_token&refresh_token=\(escaped(token))")
        default: return Answer()
        }
    }

    @Test(arguments: [
        "firebase.objects.get", "firebase.objects.media", "firebase.objects.list", "firebase.objects.insert",
        "firebase.objects.patch", "firebase.objects.tokens", "firebase.objects.delete", "firebase.uploads.start",
        "firebase.uploads.query", "firebase.uploads.chunk", "firebase.uploads.cancel", "auth.signUp",
        "auth.signInWithPassword", "auth.signInWithCustomToken", "auth.lookup", "auth.token",
    ])
    func everyOperationHasItsName(operation: String) throws {
        server.firebaseUpload("f", "hello")
        _ = server.signedUp()
        server.addFault(#"{"operation":"\#(operation)","instruction":"return-503"}"#)
        #expect(perform(operation).status == 503)
        #expect((200..<300).contains(perform(operation).status))
        let log = try JSONDecoder().decode(Log.self, from: Data(server.call("GET", "/_firemount/requests").body))
        #expect((log.counts[operation] ?? 0) >= 2)
    }

    private struct Log: Decodable {
        struct Entry: Decodable {
            let operation: String
            let range: String?
        }
        let counts: [String: Int]
        let bytesReceived: Int
        let log: [Entry]
    }

    @Test func anUploadGoesOnBehindWhatCame() throws {
        var random = SplitMix64(seed: 3)
        let content = random.bytes(700_000)
        let session = start()
        server.addFault(#"{"operation":"firebase.uploads.chunk","instruction":"return-503-after-300K"}"#)
        #expect(command("upload, finalize", session, content).status == 503)
        #expect(command("query", session)["X-Goog-Upload-Size-Received"] == "262144")
        let rest = Array(content[262_144...])
        #expect(command("upload, finalize", session, rest, offset: 262_144).status == 200)
        expectSame(server.firebaseMedia("f").body, content)
        let log = try JSONDecoder().decode(Log.self, from: Data(server.call("GET", "/_firemount/requests").body))
        #expect(log.log.filter { $0.operation == "firebase.uploads.chunk" }.map(\.range) == ["0", "262144"])
    }

    @Test func anUploadsLastAnswerMayBeLost() {
        let session = start()
        server.addFault(#"{"operation":"firebase.uploads.chunk","instruction":"truncate-body-10B"}"#)
        #expect(command("upload, finalize", session, [1, 2, 3]).firebaseObject == nil)
        let query = command("query", session)
        #expect(query.uploadStatus == "final")
        #expect(query.firebaseObject?.size == "3")
    }

    @Test func aRefusedFinalizeKeepsTheSession() {
        let session = start()
        server.addFault(#"{"operation":"firebase.uploads","instruction":"return-503-at-finalize"}"#)
        #expect(command("upload, finalize", session, [1, 2, 3]).status == 503)
        #expect(command("query", session)["X-Goog-Upload-Size-Received"] == "0")
        #expect(command("upload, finalize", session, [1, 2, 3]).uploadStatus == "final")
    }

    @Test func retryTestsNameTheOperationsAsTheLogDoes() throws {
        server.firebaseUpload("f", "hello")
        let json = #"{"instructions":{"firebase.objects.media":["return-reset-connection","return-503"]}}"#
        let id = try #require(server.call("POST", "/retry_test", json: json).document.id)
        let test = [("x-retry-test-id", id)]
        #expect(server.firebaseMedia("f", test).status == 0)
        #expect(server.firebaseMedia("f", test).status == 503)
        #expect(server.firebaseMedia("f", test).text == "hello")
    }

    @Test func aResetEmptiesTheBuckets() {
        server.firebaseUpload("f", "hello")
        server.put("g", "hello")
        let session = start()
        #expect(server.call("POST", "/internal/reset", json: "{}").status == 200)
        #expect(server.firebaseList()?.items.isEmpty == true)
        #expect(command("query", session).status == 404)
        #expect(server.firebaseUpload("f", "new").status == 200)
        #expect(server.firebaseMedia("f").text == "new")
    }
}
