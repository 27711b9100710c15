import HTTPTransport
import ObjectStore

/// `POST /upload/…/o?uploadType=resumable`, then `PUT`s to the session (PROTOCOL 4.5).
extension GoogleCloudStore: UploadDialect {
    func insertResumably(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        var dialogue = ResumableUpload(
            upload, in: self,
            chunkSize: upload.growth == nil ? configuration.chunkSize : configuration.streamChunkSize)
        return try await dialogue.run()
    }

    func opening(_ upload: Upload, _ precondition: Precondition) -> Call {
        let query = insertQuery(upload, uploadType: "resumable", precondition)
        var call = Call("insert", upload.name, .post, routes.uploads(query), safety: .repeatable)
        call.setJSON(insertJSON(upload))
        if upload.growth == nil { call.headers.append(("X-Upload-Content-Length", String(upload.source.size))) }
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
        let headers = isLast && upload.growth != nil ? Self.ending(upload, begunWith: session.headers) : []
        return HTTPRequest(.put, session.address, headers: [("Content-Range", "bytes \(span)/\(total)")] + headers)
    }

    /// What only the end of a growing source tells: the checksum, and what of the custom metadata came later. Header
    /// names know no case, so other keys have to wait.
    private static func ending(_ upload: Upload, begunWith begun: ObjectHeaders) -> [(name: String, value: String)] {
        let late = upload.headers.custom.filter { begun.custom[$0.key] != $0.value }
            .filter { HeaderText.isPlain($0.key) && $0.key == $0.key.lowercased() && HeaderText.isPlain($0.value) }
        return [("x-goog-hash", "crc32c=\(upload.source.crc32c.checksumText)")]
            + late.sorted { $0.key < $1.key }.map { ("x-goog-meta-\($0.key)", $0.value) }
    }

    func asking(about upload: Upload, in session: UploadSession) -> HTTPRequest {
        let total = upload.growth == nil ? String(upload.source.size) : "*"
        return HTTPRequest(
            .put, session.address, headers: [("Content-Range", "bytes */\(total)")], body: .bytes([]))
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
