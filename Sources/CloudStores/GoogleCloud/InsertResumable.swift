import HTTPTransport
import ObjectStore

/// `POST /upload/…/o?uploadType=resumable`, then `PUT`s to the session (PROTOCOL 4.5).
extension GoogleCloudStore: UploadDialect {
    func insertResumably(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        var dialogue = ResumableUpload(upload, in: self, chunkSize: configuration.chunkSize)
        return try await dialogue.run()
    }

    func opening(_ upload: Upload, _ precondition: Precondition) -> Call {
        let query = insertQuery(upload, uploadType: "resumable", precondition)
        var call = Call("insert", upload.name, .post, routes.uploads(query), safety: .repeatable)
        call.setJSON(insertJSON(upload))
        call.headers.append(("X-Upload-Content-Length", String(upload.source.size)))
        if let type = upload.headers.contentType {
            call.headers.append(("X-Upload-Content-Type", HeaderText.clean(type)))
        }
        return call
    }

    func session(_ answer: HTTPAnswer) -> UploadSession? {
        answer.head.first("location").map { location in
            UploadSession(address: location.first == "/" ? endpoint.root + location : location)
        }
    }

    func sending(
        _ range: Range<Int64>, isLast: Bool, of upload: Upload, to session: UploadSession
    ) -> HTTPRequest {
        let span = range.isEmpty ? "*" : "\(range.lowerBound)-\(range.upperBound - 1)"
        let total = isLast ? String(upload.source.size) : "*"
        return HTTPRequest(.put, session.address, headers: [("Content-Range", "bytes \(span)/\(total)")])
    }

    func asking(about upload: Upload, in session: UploadSession) -> HTTPRequest {
        HTTPRequest(
            .put, session.address, headers: [("Content-Range", "bytes */\(upload.source.size)")], body: .bytes([]))
    }

    func discarding(_ session: UploadSession) -> HTTPRequest {
        HTTPRequest(.delete, session.address, headers: [("Content-Length", "0")])
    }

    func reply(
        in answer: HTTPAnswer, to range: Range<Int64>?, of upload: Upload
    ) throws(StorageError) -> UploadReply {
        switch answer.status {
        case 200, 201: .complete(try ObjectResource.read(answer, "insert", upload.name))
        case 308: .stored(upTo: try Self.storedEnd(answer.head, upload))
        case 404, 410: .lost
        default: .refused(ErrorAnswer(answer.head, body: answer.body))
        }
    }

    /// 308's `Range: bytes=0-N`; without one, nothing is stored.
    private static func storedEnd(_ head: HTTPResponseHead, _ upload: Upload) throws(StorageError) -> Int64 {
        guard let range = head.first("range") else { return 0 }
        guard range.hasPrefix("bytes=0-"), let last = Int64(range.dropFirst(8)), (0..<Int64.max).contains(last) else {
            throw StorageError(
                .malformedAnswer, operation: "insert", object: upload.name,
                message: "the server says it has the bytes “\(range)”")
        }
        return last + 1
    }

    /// The server itself checks the precondition that the session was opened under.
    func checkBeforeEnd(_ upload: Upload, _ precondition: Precondition) async throws(StorageError) {}
}
