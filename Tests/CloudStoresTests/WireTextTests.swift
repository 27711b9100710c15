import ObjectStore
import TestSupport
import Testing

@testable import CloudStores

struct WireTextTests {
    @Test func onlyUnreservedCharactersStay() {
        #expect(PercentEncoding.encode("aZ09-._~") == "aZ09-._~")
        #expect(PercentEncoding.encode("a b/c+d&e%é\n") == "a%20b%2Fc%2Bd%26e%25%C3%A9%0A")
        #expect(PercentEncoding.encode([0xFF, 0x00]) == "%FF%00")
        for byte in UInt8.min...UInt8.max {
            let text = PercentEncoding.encode([byte])
            #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#&+=;".utf8.contains($0) })
        }
    }

    @Test(arguments: [
        ("https://storage.googleapis.com", "https://storage.googleapis.com"),
        ("storage.googleapis.com/", "https://storage.googleapis.com"),
        ("localhost:9000", "http://localhost:9000"), ("LOCALHOST", "http://LOCALHOST"),
        ("127.0.0.1:9000//", "http://127.0.0.1:9000"),
        ("[::1]:9000", "http://[::1]:9000"), ("HTTP://host:80/path/", "http://host:80/path"),
        ("fake-gcs:4443", "http://fake-gcs:4443"),
        ("host:443", "https://host:443"), ("https://127.0.0.1:4443", "https://127.0.0.1:4443"),
    ])
    func endpointsAreRead(text: String, root: String) throws {
        #expect(try ServiceEndpoint(parsing: text).root == root)
    }

    @Test(arguments: [
        "", "http://", "ftp://host", "http://a b", "host:port", "host:", "host:99999", "host:+80", "a:b:c",
        "http://u@host",
        "http://host?x", "http://host#x", "http:///path", "é", "[::1", "http://[]", "host\\x", "://host",
    ])
    func whatIsNoEndpointIsRefusedInOneLine(text: String) {
        let error = #expect(throws: ServiceEndpoint.ParsingError.self) { try ServiceEndpoint(parsing: text) }
        #expect(error?.description.contains("\n") == false)
    }

    @Test(arguments: 0..<5 as Range<UInt64>)
    func base64IsItsOwnInverse(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for count in 0..<60 {
            let bytes = random.bytes(count)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64.decode(Base64.encode(bytes).filter { $0 != "=" }) == bytes)
        }
    }

    @Test func base64IsTheStandardOne() {
        #expect(Base64.encode(Array("hello".utf8)) == "aGVsbG8=")
        #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
        #expect(Base64.decode("a") == nil)
        #expect(Base64.decode("aGVs=====") == nil)
        #expect(Base64.decode("aG=s") == nil)
        #expect(Base64.decode("aG s") == nil)
        #expect(checksum(of: Array("hello".utf8)).checksumText == "mnG7TA==")
    }

    @Test func jsonIsEscaped() {
        var json = JSONObject()
        json.set("a\"\\", "\u{0}\u{1F}\n\té\u{7F}")
        json.set("n", number: -5)
        json.setNull("z")
        json.set("l", [JSONObject(), JSONObject()])
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == "{\"a\\\"\\\\\":\"\\u0000\\u001f\\u000a\\u0009é\u{7F}\",\"n\":\"-5\",\"z\":null,\"l\":[{},{}]}")
    }

    @Test(
        arguments: [
            ("bytes 0-4/10", 0..<5, 10), ("bytes 5-9/*", 5..<10, nil), ("bytes */0", nil, 0),
            ("Bytes  1-1/2", 1..<2, 2),
        ] as [(String, Range<Int64>?, Int64?)])
    func contentRangesAreRead(text: String, span: Range<Int64>?, size: Int64?) throws {
        let range = try #require(ContentRange(text))
        #expect(range.span == span && range.size == size)
    }

    @Test(arguments: [
        "", "bytes", "bytes 0-4", "bytes 4-0/9", "bytes 0-9/9", "bytes a-b/9", "bytes 0-4/x", "items 0-4/9",
        "bytes -1-4/9", "bytes 0-4/9/9", "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775808/*",
    ])
    func whatIsNoContentRangeIsRefused(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test(
        arguments: [
            ("crc32c=mnG7TA==,md5=x", 0x9A71_BB4C), ("md5=x,crc32c=mnG7TA==", 0x9A71_BB4C),
            ("md5=x, CRC32C=mnG7TA==", 0x9A71_BB4C),
            ("md5=x", nil), ("", nil), ("crc32c=", nil), ("crc32c=zz", nil), ("xcrc32c=mnG7TA==", nil),
        ] as [(String, UInt32?)])
    func hashesAreFound(header: String, checksum: UInt32?) {
        #expect(MediaAnswer.checksum(in: header) == checksum)
    }
}
