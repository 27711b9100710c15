import TestSupport
import Testing

@testable import BucketServer

struct UploadTests {
    @Test func checksumsAndTimesAreTheServices() throws {
        let server = try TestServer()
        let object = server.put("f", "hello", type: "text/plain").document
        #expect(object.crc32c == "mnG7TA==")
        #expect(object.md5Hash == "XUFAKrxLKna5cZ2REBfFkg==")
        #expect(object.size == "5")
        #expect(object.metageneration == "1")
        #expect(object.timeCreated?.utf8.count == "2026-01-01T00:00:00.123Z".utf8.count)
        #expect(object.contentType == "text/plain")
        #expect(server.put("g", "").document.contentType == nil)
    }

    @Test func generationsOnlyGrow() throws {
        let server = try TestServer()
        var last: Int64 = 0
        for _ in 0..<50 {
            let generation = Int64(server.put("f", "x").document.generation ?? "") ?? 0
            #expect(generation > last)
            last = generation
        }
    }

    @Test func wrongChecksumsAreRefused() throws {
        let server = try TestServer()
        let answer = server.send(
            "POST", "/upload/storage/v1/b/demo/o?uploadType=media&name=f", [("x-goog-hash", "crc32c=AAAAAA==")],
            body: Array("hello".utf8))
        #expect(answer.status == 400)
        #expect(server.get("f").status == 404)
        let right = server.send(
            "POST", "/upload/storage/v1/b/demo/o?uploadType=media&name=f",
            [("x-goog-hash", "crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg==")], body: Array("hello".utf8))
        #expect(right.status == 200)
    }

    @Test(arguments: [
        ("", 400), ("..", 400), (".", 400), ("a\nb", 400), ("a\rb", 400), (String(repeating: "x", count: 1025), 400),
        (String(repeating: "x", count: 1024), 200), ("...", 200), ("a\u{0}b", 200),
        (".well-known/acme-challenge/x", 400),
    ])
    func namesAreValidated(name: String, status: Int) throws {
        #expect(try TestServer().put(name, "x").status == status)
    }

    @Test func namesThatAreNotUTF8AreRefused() throws {
        let server = try TestServer()
        #expect(
            server.send("POST", "/upload/storage/v1/b/demo/o?uploadType=media&name=%FF", body: []).status == 400)
        #expect(server.send("GET", "/storage/v1/b/demo/o/%C3%28").status == 400)
    }

    @Test func namesAreDecodedOnce() throws {
        let server = try TestServer()
        server.put("z%41", "literal")
        #expect(server.media("z%41").text == "literal")
        #expect(server.send("GET", "/storage/v1/b/demo/o/z%2541?alt=media").text == "literal")
        #expect(server.send("GET", "/storage/v1/b/demo/o/z%41?alt=media").status == 404)
        // A plus is itself in a path and a space in a query.
        server.send("POST", "/upload/storage/v1/b/demo/o?uploadType=media&name=a+b", body: []).expectOK()
        #expect(server.get("a b").status == 200)
        #expect(server.send("GET", "/storage/v1/b/demo/o/a+b").status == 404)
    }

    @Test func anUnknownBucketDoesNotComeToBe() throws {
        let server = try TestServer()
        let answer = server.send("POST", "/upload/storage/v1/b/nope/o?uploadType=media&name=f", body: [1, 2])
        #expect(answer.status == 404)
        #expect(answer.reason == "notFound")
        #expect(server.call("GET", "/storage/v1/b/nope").status == 404)
    }

    @Test func multipartBringsMetadataAndBytes() throws {
        let server = try TestServer()
        let body = """
            --x\r\nContent-Type: application/json\r\n\r\n{"name":"f","metadata":{"k":"v"},\
            "cacheControl":"no-store"}\r\n\
            --x\r\nContent-Type: image/png\r\n\r\nbytes\r\n--x-no boundary\r\n--x--\r\n
            """
        let answer = server.send(
            "POST", "/upload/storage/v1/b/demo/o?uploadType=multipart",
            [("Content-Type", "multipart/related; boundary=\"x\"")], body: Array(body.utf8))
        #expect(answer.status == 200)
        #expect(answer.document.contentType == "image/png")
        #expect(answer.document.metadata == ["k": "v"])
        #expect(answer.document.cacheControl == "no-store")
        #expect(server.media("f").text == "bytes\r\n--x-no boundary")
    }

    @Test(arguments: [
        "--x\r\n\r\n{}\r\n--x\r\n\r\nbytes\r\n--x--", "--x\r\n\r\n{\"name\":\"f\"}\r\n--x\r\n\r\nbytes",
        "--x\r\n\r\n{\"name\":\"f\"}\r\n--x--", "--x\r\n\r\nno json\r\n--x\r\n\r\nb\r\n--x--", "",
    ])
    func aBrokenMultipartStoresNothing(body: String) throws {
        let server = try TestServer()
        let answer = server.send(
            "POST", "/upload/storage/v1/b/demo/o?uploadType=multipart",
            [("Content-Type", "multipart/related; boundary=x")], body: Array(body.utf8))
        #expect(answer.status == 400)
        #expect(server.get("f").status == 404)
    }

    /// As gsutil sends it: no carriage returns but those of the content.
    @Test func multipartLinesMayEndWithoutACarriageReturn() throws {
        let server = try TestServer()
        let body = "--=x=\nContent-Type: application/json\n\n{\"name\":\"f\"}\n--=x=\nA: b\n\nbytes\r\n--=x=--\n"
        let answer = server.send(
            "POST", "/upload/storage/v1/b/demo/o?uploadType=multipart",
            [("Content-Type", "multipart/related; boundary='=x='")], body: Array(body.utf8))
        #expect(answer.status == 200)
        #expect(server.media("f").text == "bytes\r")
    }

    @Test(arguments: UInt64(0)..<40, ["\r\n", "\n"])
    func multipartReadsAlikeHoweverItIsCut(seed: UInt64, lineEnd: String) throws {
        var random = SplitMix64(seed: seed)
        // An alphabet of what boundaries are made of, so that near misses are common.
        let alphabet = Array("\r\n-x".utf8)
        let content = (0..<Int.random(in: 0...200, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
        let boundary = "xx"
        guard !String(decoding: content, as: UTF8.self).contains("\n--xx") else { return }
        guard !content.starts(with: "--xx".utf8) else { return }
        let lines = ["--xx", "A: 1", "", "first", "--xx", "B: 2", "", ""]
        let whole =
            Array(lines.joined(separator: lineEnd).utf8) + content + Array("\(lineEnd)--xx--\(lineEnd)".utf8)
        let parts = Parts()
        var reader = try MultipartReader(contentType: "multipart/related; boundary=\(boundary)")
        var rest = whole[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(Int.random(in: 1...40, using: &random)))
            rest = rest.dropFirst(piece.count)
            try reader.read(piece, into: parts)
        }
        #expect(reader.isFinished)
        #expect(parts.bodies == [Array("first".utf8), content])
    }

    private final class Parts: MultipartSink {
        var bodies: [[UInt8]] = []
        func partBegan(_ headers: Headers) { bodies.append([]) }
        func partContinued(_ bytes: ArraySlice<UInt8>) { bodies[bodies.count - 1] += bytes }
        func partEnded() {}
    }

    @Test func errorsKeepTheConnection() throws {
        let server = try TestServer()
        for _ in 0..<3 {
            #expect(server.put("f", [UInt8](repeating: 7, count: 300_000), query: "&ifGenerationMatch=5").status == 412)
            #expect(
                server.send("PUT", "/nothing/here", body: [UInt8](repeating: 7, count: 300_000)).status == 404)
            #expect(server.put("f", "x").status == 200)
        }
        #expect(server.connections == 1)
    }

    @Test func aRefusalIsToldBeforeTheBodyIsSent() throws {
        let server = try TestServer()
        server.put("f", "x")
        server.sendHead(
            "POST", "/upload/storage/v1/b/demo/o?uploadType=media&name=f&ifGenerationMatch=0",
            [("Content-Length", "1000000"), ("Expect", "100-continue")])
        #expect(server.readAnswer().status == 412)
    }
}

extension Answer {
    fileprivate func expectOK() { #expect(status == 200) }
}
