import TestSupport
import Testing

struct ResumableUploadTests {
    private static let granule = 262_144

    private let server: TestServer
    private let content: [UInt8]

    init() throws {
        server = try TestServer()
        var random = SplitMix64(seed: 7)
        content = random.bytes(700_000)
    }

    /// Starts an upload.
    /// - Returns: the session's address, without the server's.
    private func start(
        _ name: String = "f", json: String = "{}", query: String = "", headers: [(String, String)] = []
    ) -> String {
        let answer = server.call(
            "POST", "/upload/storage/v1/b/demo/o?uploadType=resumable&name=\(escaped(name))\(query)", json: json,
            headers)
        #expect(answer.status == 200)
        let location = answer["Location"] ?? ""
        return String(location.drop { $0 != ":" }.dropFirst().drop { $0 != ":" }.drop { $0 != "/" })
    }

    private func put(_ session: String, _ range: Range<Int>, total: String, _ headers: [(String, String)] = [])
        -> Answer
    {
        server.send(
            "PUT", session, [("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)")] + headers,
            body: Array(content[range]))
    }

    private func query(_ session: String, total: String = "*") -> Answer {
        server.send("PUT", session, [("Content-Range", "bytes */\(total)")], body: [])
    }

    @Test func chunksBecomeOneObject() {
        let session = start(json: #"{"metadata":{"a":"b"}}"#, headers: [("X-Upload-Content-Type", "image/png")])
        #expect(query(session).status == 308)
        #expect(query(session)["Range"] == nil)
        let first = put(session, 0..<524_288, total: "*")
        #expect(first.status == 308)
        #expect(first["Range"] == "bytes=0-524287")
        #expect(server.get("f").status == 404)
        let last = put(session, 524_288..<700_000, total: "700000")
        #expect(last.status == 200)
        #expect(last.document.size == "700000")
        #expect(last.document.contentType == "image/png")
        #expect(last.document.metadata == ["a": "b"])
        expectSame(server.media("f").body, content)
        #expect(server.connections == 1)
    }

    @Test func aFinishedSessionAnswersWithItsObjectAgain() {
        let session = start()
        let done = put(session, 0..<700_000, total: "700000")
        #expect(query(session).document.generation == done.document.generation)
        #expect(put(session, 0..<700_000, total: "700000").document.generation == done.document.generation)
    }

    @Test func onlyWholeGranulesOfAChunkAreKept() {
        let session = start()
        let answer = put(session, 0..<300_000, total: "*")
        #expect(answer["Range"] == "bytes=0-\(Self.granule - 1)")
        #expect(put(session, 0..<100, total: "*")["Range"] == "bytes=0-\(Self.granule - 1)")
        #expect(put(session, Self.granule..<700_000, total: "700000").status == 200)
        expectSame(server.media("f").body, content)
    }

    @Test func bytesSentAgainAreLeftOut() {
        let session = start()
        _ = put(session, 0..<524_288, total: "*")
        #expect(put(session, 262_144..<524_288, total: "*")["Range"] == "bytes=0-524287")
        #expect(put(session, 100_000..<700_000, total: "700000").status == 200)
        expectSame(server.media("f").body, content)
    }

    @Test func bytesBehindAGapAreNotTaken() {
        let session = start()
        _ = put(session, 0..<262_144, total: "*")
        let gap = put(session, 524_288..<700_000, total: "700000")
        #expect(gap.status == 308)
        #expect(gap["Range"] == "bytes=0-262143")
        #expect(server.get("f").status == 404)
    }

    @Test func anUnknownTotalIsNamedAtTheEnd() {
        let session = start()
        _ = put(session, 0..<524_288, total: "*")
        #expect(query(session, total: "524288").document.size == "524288")
        let empty = start("empty")
        #expect(query(empty, total: "0").document.size == "0")
    }

    @Test func aPutWithoutARangeIsTheWholeObject() {
        let session = start()
        #expect(server.send("PUT", session, body: content).document.size == "700000")
        expectSame(server.media("f").body, content)
    }

    @Test func theAnnouncedSizeHolds() {
        let session = start(headers: [("X-Upload-Content-Length", "700000")])
        #expect(put(session, 0..<262_144, total: "600000").status == 400)
        #expect(put(session, 0..<262_144, total: "*").status == 308)
        #expect(put(session, 262_144..<700_000, total: "*").status == 200)
    }

    @Test(arguments: [
        "bytes 0-99/50", "bytes x-y/z", "bytes 0-9223372036854775807/*", "bytes 5-2/*", "bytes 0-/*", "bytes */-1",
        "bytes 9223372036854775806-9223372036854775807/9223372036854775807", "items 0-1/2", "",
    ])
    func aRangeThatCannotBeIsRefused(range: String) {
        #expect(server.send("PUT", start(), [("Content-Range", range)], body: []).status == 400)
    }

    @Test func aCancelledSessionIsGone() {
        let session = start()
        _ = put(session, 0..<262_144, total: "*")
        #expect(server.send("DELETE", session, [("Content-Length", "0")]).status == 499)
        #expect([404, 410].contains(query(session).status))
        #expect([404, 410].contains(put(session, 0..<700_000, total: "700000").status))
        #expect(server.get("f").status == 404)
        #expect(server.connections == 1)
    }

    @Test func manyUnfinishedUploadsGoOnWhereTheyWere() {
        let first = start()
        _ = put(first, 0..<262_144, total: "*")
        // More than the server keeps in memory.
        for number in 0..<300 { _ = start("other\(number)") }
        #expect(query(first)["Range"] == "bytes=0-262143")
        #expect(put(first, 262_144..<700_000, total: "700000").status == 200)
        expectSame(server.media("f").body, content)
    }

    @Test func anUnknownSessionIsNotFound() {
        #expect(query("/upload/storage/v1/b/demo/o?uploadType=resumable&upload_id=none").status == 404)
    }

    @Test func aNameGivenTwiceDifferentlyIsRefused() {
        let answer = server.call(
            "POST", "/upload/storage/v1/b/demo/o?uploadType=resumable&name=a", json: #"{"name":"b"}"#)
        #expect(answer.status == 400)
    }

    @Test func preconditionsHoldAtTheStartAndAtTheEnd() {
        let session = start(query: "&ifGenerationMatch=0")
        server.put("f", "quicker")
        #expect(put(session, 0..<700_000, total: "700000").status == 412)
        #expect(server.media("f").text == "quicker")
        let late = server.call(
            "POST", "/upload/storage/v1/b/demo/o?uploadType=resumable&name=f&ifGenerationMatch=0", json: "{}")
        #expect(late.status == 412)
    }

    @Test func theLastRequestMayBringAHashAndMetadata() {
        let wrong = start()
        #expect(put(wrong, 0..<700_000, total: "700000", [("x-goog-hash", "crc32c=AAAAAA==")]).status == 400)
        let right = start()
        #expect(
            put(right, 0..<700_000, total: "700000", [("X-Goog-Meta-Color", "red")]).document.metadata == [
                "color": "red"
            ])
    }

    @Test func statusAsAPlain200ForThoseWhoAsk() {
        let session = start()
        let answer = put(session, 0..<262_144, total: "*", [("X-GUploader-No-308", "yes")])
        #expect(answer.status == 200)
        #expect(answer["X-HTTP-Status-Code-Override"] == "308")
        #expect(answer["Range"] == "bytes=0-262143")
    }

    @Test func aConnectionLostInAChunkLeavesWhatCame() async throws {
        let session = start()
        let broken = WireClient(port: server.port)
        broken.connect()
        broken.sendHeadAndWait(
            "PUT", session, [("Content-Range", "bytes 0-699999/700000"), ("Content-Length", "700000")])
        broken.sendBytes(Array(content[..<600_000]))
        broken.disconnect()
        // The server may still be reading what was sent; a later request has the session to itself.
        let stored = query(session)["Range"].flatMap { Int($0.dropFirst("bytes=0-".count)) }.map { $0 + 1 } ?? 0
        #expect(stored % Self.granule == 0)
        #expect(put(session, stored..<700_000, total: "700000").status == 200)
        expectSame(server.media("f").body, content)
    }

    @Test func theNewerOfTwoRequestsWins() {
        let session = start()
        let stuck = WireClient(port: server.port)
        stuck.connect()
        stuck.sendHeadAndWait(
            "PUT", session, [("Content-Range", "bytes 0-699999/700000"), ("Content-Length", "700000")])
        stuck.sendBytes(Array(content[..<1000]))
        #expect(put(session, 0..<700_000, total: "700000").status == 200)
        stuck.sendBytes([UInt8](repeating: 0, count: 699_000))
        _ = stuck.readAnswer()
        expectSame(server.media("f").body, content)
    }
}
