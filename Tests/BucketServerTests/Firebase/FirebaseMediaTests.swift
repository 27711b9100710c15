import TestSupport
import Testing

struct FirebaseMediaTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.firebaseUpload("f", "hello", json: #"{"contentType":"text/plain","cacheControl":"no-store"}"#)
    }

    struct RangeCase: Sendable {
        let range: String
        let status: Int
        let body: String
        var contentRange: String?
    }

    @Test(arguments: [
        RangeCase(range: "bytes=1-3", status: 206, body: "ell", contentRange: "bytes 1-3/5"),
        RangeCase(range: "bytes=2-", status: 206, body: "llo", contentRange: "bytes 2-4/5"),
        RangeCase(range: "bytes=-2", status: 206, body: "lo", contentRange: "bytes 3-4/5"),
        RangeCase(range: "bytes=3-99", status: 206, body: "lo", contentRange: "bytes 3-4/5"),
        RangeCase(range: "bytes=5-", status: 416, body: "", contentRange: "bytes */5"),
        RangeCase(range: "nonsense", status: 200, body: "hello"),
    ])
    func aRangeIsAnswered(wanted: RangeCase) {
        let answer = server.firebaseMedia("f", [("Range", wanted.range)])
        #expect(answer.status == wanted.status)
        #expect(answer["Content-Range"] == wanted.contentRange)
        if wanted.status != 416 { #expect(answer.text == wanted.body) }
    }

    @Test func headersDescribeTheObject() throws {
        let object = try #require(server.firebase("GET", "f").firebaseObject)
        let answer = server.firebaseMedia("f")
        #expect(answer["Content-Type"] == "text/plain")
        #expect(answer["Content-Length"] == "5")
        #expect(answer["Content-Disposition"] == "inline; filename*=utf-8''f")
        #expect(answer["Cache-Control"] == "no-store")
        #expect(answer["ETag"] == object.etag)
        #expect(answer["Accept-Ranges"] == "bytes")
        #expect(answer["x-goog-generation"] == object.generation)
        #expect(answer["x-goog-metageneration"] == "1")
        #expect(answer["x-goog-storage-class"] == "STANDARD")
        #expect(answer["x-goog-hash"] == "crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg==")
    }

    @Test func preconditionsAreUnknownHere() {
        #expect(server.firebaseMedia("f", query: "&ifGenerationMatch=1").status == 200)
        #expect(server.firebaseMedia("f", query: "&generation=1").status == 200)
        #expect(server.firebaseMedia("f", [("If-None-Match", "*")]).status == 200)
    }

    /// `hello`, compressed.
    private static let gzip: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x86,
        0xA6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
    ]

    @Test func gzipIsUnpackedForWhoDoesNotTakeIt() {
        server.put("z", Self.gzip)
        _ = server.firebase("PATCH", "z", json: #"{"contentEncoding":"gzip"}"#)
        let unpacked = server.firebaseMedia("z", [("Range", "bytes=1-2")])
        #expect(unpacked.status == 200)
        #expect(unpacked.text == "hello")
        #expect(unpacked["Content-Length"] == nil)
        #expect(unpacked["Content-Encoding"] == nil)
        let stored = server.firebaseMedia("z", [("Accept-Encoding", "gzip"), ("Range", "bytes=0-1")])
        #expect(stored.status == 206)
        #expect(stored.body == [0x1F, 0x8B])
        #expect(stored["Content-Encoding"] == "gzip")
    }
}
