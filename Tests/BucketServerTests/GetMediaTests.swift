import TestSupport
import Testing

struct GetMediaTests {
    struct RangeCase: Sendable {
        let range: String
        let status: Int
        var body: String?
        var contentRange: String?
    }

    @Test(arguments: [
        RangeCase(range: "bytes=1-3", status: 206, body: "ell", contentRange: "bytes 1-3/5"),
        RangeCase(range: "bytes=2-", status: 206, body: "llo", contentRange: "bytes 2-4/5"),
        RangeCase(range: "bytes=-2", status: 206, body: "lo", contentRange: "bytes 3-4/5"),
        RangeCase(range: "bytes=-99", status: 206, body: "hello", contentRange: "bytes 0-4/5"),
        RangeCase(range: "bytes=3-99", status: 206, body: "lo", contentRange: "bytes 3-4/5"),
        RangeCase(range: "bytes=0-0", status: 206, body: "h", contentRange: "bytes 0-0/5"),
        RangeCase(range: "bytes=5-", status: 416, contentRange: "bytes */5"),
        RangeCase(range: "bytes=9-12", status: 416, contentRange: "bytes */5"),
        RangeCase(range: "bytes=-0", status: 416, contentRange: "bytes */5"),
        RangeCase(range: "bytes=1-9223372036854775807", status: 206, body: "ello", contentRange: "bytes 1-4/5"),
        RangeCase(range: "bytes=-9223372036854775807", status: 206, body: "hello", contentRange: "bytes 0-4/5"),
        RangeCase(range: "bytes=0-1,3-4", status: 200, body: "hello"),
        RangeCase(range: "bytes=3-1", status: 200, body: "hello"),
        RangeCase(range: "lines=1-2", status: 200, body: "hello"),
    ])
    func aRangeIsAnswered(wanted: RangeCase) throws {
        let server = try TestServer()
        server.put("f", "hello")
        let answer = server.media("f", [("Range", wanted.range)])
        #expect(answer.status == wanted.status)
        #expect(answer["Content-Range"] == wanted.contentRange)
        if let body = wanted.body { #expect(answer.text == body) }
    }

    @Test func anyRangeOfAnEmptyObjectIsUnsatisfiable() throws {
        let server = try TestServer()
        server.put("f", "")
        #expect(server.media("f", [("Range", "bytes=0-")]).status == 416)
        #expect(server.media("f").status == 200)
        #expect(server.media("f").body.isEmpty)
    }

    @Test func headersDescribeTheStoredObject() throws {
        let server = try TestServer()
        let stored = server.put("f", "hello", type: "text/plain").document
        let answer = server.media("f", [("Range", "bytes=1-1")])
        #expect(answer["x-goog-generation"] == stored.generation)
        #expect(answer["x-goog-metageneration"] == "1")
        #expect(answer["x-goog-hash"] == "crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg==")
        #expect(answer["x-goog-stored-content-length"] == "5")
        #expect(answer["x-goog-stored-content-encoding"] == "identity")
        #expect(answer["x-goog-storage-class"] == "STANDARD")
        #expect(answer["Content-Type"] == "text/plain")
        #expect(answer["ETag"] == stored.etag)
    }

    @Test func mediaErrorsAreText() throws {
        let server = try TestServer()
        let answer = server.media("none")
        #expect(answer.status == 404)
        #expect(answer.text == "No such object: demo/none")
        #expect(server.get("none").reason == "notFound")
    }

    @Test func gzipIsUnpackedOnlyForThoseWhoCannotTakeIt() throws {
        // `printf hello | gzip -n` as written by any gzip: ten header bytes, deflate, CRC, length.
        let gzip: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ]
        let server = try TestServer()
        server.put("f", gzip, query: "&contentEncoding=gzip", type: "text/plain")
        let plain = server.media("f", [("Range", "bytes=1-2")])
        #expect(plain.status == 200)
        #expect(plain.text == "hello")
        #expect(plain["Content-Encoding"] == nil)
        #expect(plain["Content-Length"] == nil)
        #expect(plain["x-guploader-response-body-transformations"] == "gunzipped")
        let stored = server.media("f", [("Accept-Encoding", "gzip")])
        expectSame(stored.body, gzip)
        #expect(stored["Content-Encoding"] == "gzip")
        let part = server.media("f", [("Accept-Encoding", "gzip"), ("Range", "bytes=0-1")])
        #expect(part.status == 206)
        #expect(part.body == [0x1F, 0x8B])
        _ = server.call("PATCH", "/storage/v1/b/demo/o/f", json: #"{"cacheControl":"no-transform"}"#)
        expectSame(server.media("f").body, gzip)
    }

    @Test func whatIsMarkedGzipButIsNotBreaksOff() throws {
        let server = try TestServer()
        server.put("f", "this is no gzip at all", query: "&contentEncoding=gzip")
        #expect(!server.media("f").isComplete)
    }

    @Test func aReaderKeepsTheGenerationItOpened() throws {
        var random = SplitMix64(seed: 1)
        let server = try TestServer()
        let old = random.bytes(8 << 20)
        server.put("f", old)
        let reader = WireClient(port: server.port)
        reader.connect()
        reader.sendHead("GET", "/storage/v1/b/demo/o/f?alt=media", [])
        reader.waitForAnswer()
        // The answer fills the socket's buffers and waits there while the object is replaced.
        server.put("f", "new")
        expectSame(reader.readAnswer().body, old)
        #expect(server.media("f").text == "new")
    }

    @Test func bothDownloadAddressesServeBytes() throws {
        let server = try TestServer()
        server.put("a/b", "x")
        #expect(server.send("GET", "/download/storage/v1/b/demo/o/a%2Fb?alt=media").text == "x")
        #expect(server.send("HEAD", "/storage/v1/b/demo/o/a%2Fb?alt=media")["Content-Length"] == "1")
    }
}
