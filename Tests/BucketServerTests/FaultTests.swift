import Glibc
import TestSupport
import Testing

@testable import BucketServer

struct FaultTests {
    private let server: TestServer
    private let content: [UInt8]

    init() throws {
        server = try TestServer()
        var random = SplitMix64(seed: 5)
        content = random.bytes(700_000)
        server.put("f", content)
    }

    private func rule(_ operation: String, _ instruction: String, _ more: String = "") {
        server.addFault(#"{"operation":"\#(operation)","instruction":"\#(instruction)"\#(more)}"#)
    }

    @Test func aRefusalComesOnceAndMaySayWhenToRetry() {
        rule("storage.objects.get", "return-503,retry-after-2s")
        let refused = server.get("f")
        #expect(refused.status == 503)
        #expect(refused["Retry-After"] == "2")
        #expect(server.get("f").status == 200)
    }

    @Test func aRefusedInsertStoresNothingAndKeepsTheConnection() {
        rule("storage.objects.insert", "return-429")
        #expect(server.put("new", content).status == 429)
        #expect(server.get("new").status == 404)
        #expect(server.connections == 1)
    }

    @Test func aRuleCountsSkipsAndPicksNames() {
        rule("storage.objects.get", "return-500", #","times":2,"skip":1,"name":"f""#)
        server.put("g", "x")
        #expect(server.get("g").status == 200)
        #expect((0..<5).map { _ in server.get("f").status } == [200, 500, 500, 200, 200])
    }

    @Test func rulesStayUntilTheyAreTakenAway() {
        rule("*", "return-500", #","times":-1"#)
        #expect((0..<3).map { _ in server.get("f").status } == [500, 500, 500])
        #expect(server.call("DELETE", "/_firemount/faults").status == 204)
        #expect(server.get("f").status == 200)
    }

    @Test func aRefusalAtTheEndStoresNothing() {
        rule("storage.objects.insert", "return-403-at-finalize")
        #expect(server.put("new", "x").status == 403)
        #expect(server.get("new").status == 404)
    }

    @Test func anUploadRefusedHalfwayKeepsItsHalf() {
        rule("storage.objects.insert", "return-503-after-256K")
        let start = server.call("POST", "/upload/storage/v1/b/demo/o?uploadType=resumable&name=new", json: "{}")
        let session = "/upload/storage/v1/b/demo/o?upload_id=\(start["X-GUploader-UploadID"] ?? "")"
        let all = [("Content-Range", "bytes 0-699999/700000")]
        #expect(server.send("PUT", session, all, body: content).status == 503)
        let asked = server.send("PUT", session, [("Content-Range", "bytes */*")], body: [])
        #expect(asked["Range"] == "bytes=0-262143")
        #expect(server.send("PUT", session, all, body: content).status == 200)
        expectSame(server.media("new").body, content)
    }

    @Test func aDownloadBreaksOff() {
        rule("storage.objects.media", "return-broken-stream-after-256K")
        let broken = server.media("f")
        #expect(!broken.isComplete)
        expectSame(broken.body, Array(content[..<262_144]))
        expectSame(server.media("f").body, content)
    }

    @Test func anUploadsConnectionBreaksOff() {
        rule("storage.objects.insert", "return-broken-stream-after-256K")
        #expect(server.put("new", content).status == 0)
        #expect(server.get("new").status == 404)
    }

    @Test func aConnectionIsReset() {
        rule("storage.objects.get", "return-reset-connection")
        #expect(server.get("f").status == 0)
        #expect(server.get("f").status == 200)
    }

    @Test func whatWasCarriedOutMayGetNoAnswer() {
        rule("storage.objects.insert", "act-then-reset-connection")
        #expect(server.put("new", "x").status == 0)
        #expect(server.get("new").status == 200)
    }

    @Test func connectionsAreRefusedForAWhile() {
        for _ in 0..<2 {
            rule("storage.objects.get", "refuse-connections-for-300ms")
            let took = ContinuousClock().measure {
                #expect(server.get("f").status == 0)
                #expect(server.get("f").status == 0)
                while server.get("f").status != 200 { usleep(10_000) }
            }
            #expect(took > .milliseconds(200))
        }
    }

    @Test func bodiesLie() {
        rule("storage.objects.media", "truncate-body-10B")
        let short = server.media("f")
        #expect(short.isComplete)
        expectSame(short.body, Array(content[..<10]))
        rule("storage.objects.media", "corrupt-body")
        let corrupt = server.media("f")
        #expect(corrupt.body.count == content.count)
        #expect(zip(corrupt.body, content).count { $0 != $1 } == 1)
        rule("storage.objects.insert", "error-body-200")
        let lie = server.put("new", "x")
        #expect(lie.status == 200)
        #expect(lie.document.error?.code == 503)
        #expect(server.get("new").status == 404)
    }

    @Test func whatIsDelayedComesWhole() {
        let clock = ContinuousClock()
        rule("*", "latency-50ms", #","times":2"#)
        let took = clock.measure {
            #expect(server.put("new", content).status == 200)
            expectSame(server.media("new").body, content)
        }
        #expect(took >= .milliseconds(100))
    }

    @Test func delayedRequestsHoldNoThread() {
        rule("*", "latency-300ms", #","times":20"#)
        let clients = (0..<20).map { _ in WireClient(port: server.port) }
        let took = ContinuousClock().measure {
            for client in clients {
                client.connect()
                client.sendHead("GET", "/storage/v1/b/demo/o/f", [])
            }
            for client in clients { #expect(client.readAnswer().status == 200) }
        }
        #expect(took >= .milliseconds(300))
        // Were a thread held, four threads would take five rounds.
        #expect(took < .milliseconds(1400))
    }

    @Test func aStallIsAPause() {
        rule("storage.objects.media", "stall-for-1s-after-256K")
        let took = ContinuousClock().measure { expectSame(server.media("f").body, content) }
        #expect(took >= .seconds(1))
    }

    @Test func aServerStopsWhileItStalls() throws {
        let server = try TestServer()
        server.addFault(#"{"operation":"*","instruction":"latency-60000ms"}"#)
        server.sendHead("GET", "/storage/v1/b/demo", [])
        _ = try TestServer(restarting: server)
    }

    @Test func aRetryTestGoesThroughItsInstructions() {
        let instructions = #"{"instructions":{"storage.objects.get":["return-503","return-reset-connection"]}}"#
        let id = server.call("POST", "/retry_test", json: instructions).document.id ?? ""
        let header = [("x-retry-test-id", id)]
        #expect(server.get("f").status == 200)
        #expect(server.media("f", header).status == 503)
        #expect(server.call("GET", "/retry_test/\(id)").document.completed == false)
        #expect(server.media("f", header).status == 0)
        #expect(server.media("f", header).status == 200)
        #expect(server.call("GET", "/retry_test/\(id)").document.completed == true)
        #expect(server.call("DELETE", "/retry_test/\(id)").status == 200)
        #expect(server.call("GET", "/retry_test/\(id)").status == 404)
    }

    @Test(arguments: ["", "nonsense", "return-", "return-503x", "return--1", "latency-5s", "return-99999999999"])
    func whatIsNoInstructionIsRefused(text: String) {
        #expect(throws: APIError.self) { try Instruction.list(text) }
    }
}
