import BucketServer
import TestSupport
import Testing

struct CopyTests {
    private let server: TestServer

    init() throws {
        server = try TestServer { $0.buckets.append("other") }
        server.put("f", "hello", type: "text/plain")
        _ = server.call("PATCH", "/storage/v1/b/demo/o/f", json: #"{"metadata":{"k":"v"}}"#)
    }

    private func object(_ path: String) -> String { "/storage/v1/b/demo/o/\(path)" }

    @Test func aCopyKeepsTheMetadataUnlessOthersAreGiven() {
        let kept = server.call("POST", object("f/copyTo/b/other/o/c")).document
        #expect(kept.metadata == ["k": "v"])
        #expect(kept.contentType == "text/plain")
        #expect(kept.metageneration == "1")
        #expect(kept.md5Hash == "XUFAKrxLKna5cZ2REBfFkg==")
        #expect(server.call("POST", object("f/copyTo/b/other/o/c"), json: "null").document.metadata == ["k": "v"])
        let given = server.call("POST", object("f/copyTo/b/demo/o/d"), json: #"{"metadata":{"x":"y"}}"#).document
        #expect(given.metadata == ["x": "y"])
        #expect(server.send("GET", "/storage/v1/b/other/o/c?alt=media").text == "hello")
    }

    @Test func aCopySurvivesItsSource() {
        _ = server.call("POST", object("f/copyTo/b/demo/o/c"))
        _ = server.call("DELETE", object("f"))
        #expect(server.media("c").text == "hello")
    }

    @Test func copiesAreConditionalOnBothEnds() {
        #expect(server.call("POST", object("f/copyTo/b/demo/o/c?ifSourceGenerationMatch=1")).status == 412)
        #expect(server.call("POST", object("f/copyTo/b/demo/o/c?sourceGeneration=1")).status == 404)
        #expect(server.call("POST", object("f/copyTo/b/demo/o/f?ifGenerationMatch=0")).status == 412)
        #expect(server.call("POST", object("f/rewriteTo/b/demo/o/f?ifGenerationMatch=0")).status == 412)
        #expect(server.call("POST", object("none/copyTo/b/demo/o/c")).status == 404)
        #expect(server.call("POST", object("f/copyTo/b/nope/o/c")).status == 404)
        #expect(server.get("c").status == 404)
    }

    @Test func aSmallRewriteIsDoneAtOnce() {
        let answer = server.call("POST", object("f/rewriteTo/b/demo/o/c")).document
        #expect(answer.done == true)
        #expect(answer.totalBytesRewritten == "5")
        #expect(server.get("c").document.metadata == ["k": "v"])
    }

    @Test func aLimitedRewriteGoesOnByToken() throws {
        let server = try TestServer { $0.maxBytesRewrittenPerCall = 1 << 20 }
        var random = SplitMix64(seed: 3)
        let content = random.bytes(2_500_000)
        server.put("f", content)
        var (token, calls): (String?, Int) = (nil, 0)
        repeat {
            let query = token.map { "?rewriteToken=\(escaped($0))" } ?? ""
            let step = server.call("POST", object("f/rewriteTo/b/demo/o/c\(query)")).document
            token = step.rewriteToken
            calls += 1
            #expect((step.done == true) == (token == nil))
            if token != nil { #expect(server.get("c").status == 404) }
        } while token != nil && calls < 10
        #expect(calls == 3)
        expectSame(server.media("c").body, content)
        #expect(server.call("POST", object("f/rewriteTo/b/demo/o/c?maxBytesRewrittenPerCall=5")).status == 400)
        #expect(server.call("POST", object("f/rewriteTo/b/demo/o/c?rewriteToken=x")).status == 400)
    }

    @Test func aRewriteMayGoOnWithoutALimit() {
        server.put("big", [UInt8](repeating: 1, count: 3 << 20))
        let path = object("big/rewriteTo/b/demo/o/c")
        let first = server.call("POST", path + "?maxBytesRewrittenPerCall=1048576").document
        #expect(first.done == false)
        #expect(server.call("POST", path + "?rewriteToken=\(escaped(first.rewriteToken ?? ""))").document.done == true)
    }

    @Test func aMoveKeepsBytesAndMetadata() {
        let before = server.get("f").document
        let moved = server.call("POST", object("f/moveTo/o/dir%2Fg")).document
        #expect(moved.name == "dir/g")
        #expect(moved.metadata == ["k": "v"])
        #expect(moved.metageneration == "1")
        #expect(Int64(moved.generation ?? "") ?? 0 > Int64(before.generation ?? "") ?? 0)
        #expect(server.get("f").status == 404)
        #expect(server.media("dir/g").text == "hello")
    }

    @Test func aMoveReplacesUnlessToldNotTo() {
        server.put("g", "old")
        #expect(server.call("POST", object("f/moveTo/o/g?ifGenerationMatch=0")).status == 412)
        #expect(server.call("POST", object("f/moveTo/o/g?ifSourceGenerationMatch=1")).status == 412)
        #expect(server.media("g").text == "old")
        #expect(server.call("POST", object("f/moveTo/o/f")).status == 400)
        #expect(server.call("POST", object("f/moveTo/o/g")).status == 200)
        #expect(server.media("g").text == "hello")
        #expect(server.call("POST", object("f/moveTo/o/g")).status == 404)
    }

    @Test func composingJoinsAndMayAppendToItself() {
        server.put("g", " world")
        let composed = server.call(
            "POST", object("f/compose"),
            json: #"{"sourceObjects":[{"name":"f"},{"name":"g"}],"destination":{"contentType":"a/b"}}"#
        ).document
        #expect(composed.componentCount == 2)
        #expect(composed.md5Hash == nil)
        #expect(composed.size == "11")
        #expect(composed.contentType == "a/b")
        #expect(composed.crc32c == "yZRlqg==")
        #expect(server.media("f").text == "hello world")
        let again = server.call(
            "POST", object("f/compose"), json: #"{"sourceObjects":[{"name":"f"},{"name":"g"}]}"#
        ).document
        #expect(again.componentCount == 3)
        #expect(server.media("f").text == "hello world world")
    }

    @Test func appendingLeavesCopiesAsTheyWere() {
        _ = server.call("POST", object("f/copyTo/b/demo/o/copy"))
        server.put("g", "!")
        server.put("h", "?")
        for (name, tail) in [("f", "g"), ("copy", "h"), ("f", "h")] {
            let sources = #"{"sourceObjects":[{"name":"\#(name)"},{"name":"\#(tail)"}]}"#
            #expect(server.call("POST", object("\(name)/compose"), json: sources).status == 200)
        }
        #expect(server.media("f").text == "hello!?")
        #expect(server.media("copy").text == "hello?")
    }

    @Test func composingIsCheckedBeforeItHappens() {
        let tooMany = (0..<33).map { _ in #"{"name":"f"}"# }.joined(separator: ",")
        #expect(server.call("POST", object("x/compose"), json: #"{"sourceObjects":[\#(tooMany)]}"#).status == 400)
        #expect(server.call("POST", object("x/compose"), json: #"{"sourceObjects":[]}"#).status == 400)
        #expect(server.call("POST", object("x/compose"), json: #"{"sourceObjects":[{"name":"none"}]}"#).status == 404)
        let stale = #"{"sourceObjects":[{"name":"f","objectPreconditions":{"ifGenerationMatch":"1"}}]}"#
        #expect(server.call("POST", object("x/compose"), json: stale).status == 412)
        let other = #"{"sourceObjects":[{"name":"f","generation":"1"}]}"#
        #expect(server.call("POST", object("x/compose"), json: other).status == 404)
        #expect(
            server.call("POST", object("f/compose?ifGenerationMatch=0"), json: #"{"sourceObjects":[{"name":"f"}]}"#)
                .status == 412)
    }
}
