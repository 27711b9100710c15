import HTTPTransport
import ObjectStore

/// `POST /v0/b/{B}/o/{O}?uploadType=resumable`, then commands to the session (PROTOCOL 1.11).
extension FirebaseStore: UploadDialect {
    func opening(_ upload: Upload, _ precondition: Precondition) -> Call {
        var query = Query()
        query.add("uploadType", "resumable")
        query.add("name", bytes: upload.name.bytes)
        var call = Call(
            Self.insertion, upload.name, .post, routes.object(upload.name, query), safety: .repeatable)
        call.setJSON(insertJSON(upload))
        call.headers += [
            ("X-Goog-Upload-Protocol", "resumable"), ("X-Goog-Upload-Command", "start"),
        ]
        if upload.growth == nil {
            call.headers.append(("X-Goog-Upload-Header-Content-Length", String(upload.source.size)))
        }
        if let type = upload.headers.contentType {
            call.headers.append(("X-Goog-Upload-Header-Content-Type", HeaderText.clean(type)))
        }
        return call
    }

    func session(_ answer: HTTPAnswer) -> UploadSession? {
        let status = answer.head.first("x-goog-upload-status") ?? "active"
        guard status == "active", let url = answer.head.first("x-goog-upload-url") else { return nil }
        let asked = answer.head.first("x-goog-upload-chunk-granularity").flatMap { Int64($0) } ?? 0
        let address = url.first == "/" ? endpoint.root + url : url
        // More than this would take the chunks' size out of our hands.
        let isUsable = (1...Self.largestGranularity).contains(asked)
        return UploadSession(address: address, granularity: isUsable ? asked : UploadTransfer.granularity)
    }

    private static let largestGranularity: Int64 = 64 << 20

    func sending(
        _ range: Range<Int64>, isLast: Bool, of upload: Upload, to session: UploadSession
    ) -> HTTPRequest {
        var request = command(isLast ? "upload, finalize" : "upload", session)
        request.headers.append(("X-Goog-Upload-Offset", String(range.lowerBound)))
        return request
    }

    func asking(about upload: Upload, in session: UploadSession) -> HTTPRequest { command("query", session) }

    func discarding(_ session: UploadSession) -> HTTPRequest { command("cancel", session) }

    private func command(_ words: String, _ session: UploadSession) -> HTTPRequest {
        HTTPRequest(.post, session.address, headers: [("X-Goog-Upload-Command", words)], body: .bytes([]))
    }

    func reply(
        in answer: HTTPAnswer, to range: Range<Int64>?, of upload: Upload
    ) throws(StorageError) -> UploadReply {
        let status = answer.head.first("x-goog-upload-status")?.lowercased()
        guard (200...299).contains(answer.status) else { return Self.refusal(answer, status) }
        switch status {
        // A server may repeat that it is done without saying what the object is (PROTOCOL 1.11, odd cases).
        case "final": return .complete(try? object(answer, Self.insertion, upload.name))
        case "cancelled": return .lost
        default: return .stored(upTo: try storedEnd(answer.head, range, upload))
        }
    }

    private static func refusal(_ answer: HTTPAnswer, _ status: String?) -> UploadReply {
        let refusal = ErrorAnswer(answer.head, body: answer.body)
        switch (answer.status, status) {
        case (408, _), (429, _), (500..., _): return .refused(refusal)
        case (404, _), (410, _), (_, "cancelled"): return .lost
        case (_, "active"): return .outOfStep(refusal)
        // What came to a session that is done already: it tells, when asked, what became of it.
        case (400, "final"): return .outOfStep(refusal)
        // The rules have refused the whole, or the request was no good.
        default: return .refused(refusal)
        }
    }

    /// Without a number of its own the server has taken all that was sent (PROTOCOL 1.11).
    private func storedEnd(
        _ head: HTTPResponseHead, _ range: Range<Int64>?, _ upload: Upload
    ) throws(StorageError) -> Int64 {
        if let size = head.first("x-goog-upload-size-received").flatMap({ Int64($0) }), size >= 0 { return size }
        if let range { return range.upperBound }
        throw StorageError(
            .malformedAnswer, operation: Self.insertion, object: upload.name,
            message: "the server does not tell how much it has of the upload")
    }

    func checkBeforeEnd(_ upload: Upload, _ precondition: Precondition) async throws(StorageError) {
        try await check(precondition, of: upload.name, for: Self.insertion)
    }
}
