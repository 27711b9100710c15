/// The steps of a resumable upload (PROTOCOL 4.5): start, chunk or query, cancel.
extension Service {
    /// `POST …?uploadType=resumable`: answers with the session's address.
    func startUpload(_ request: Request, bucket: String, _ body: [UInt8]) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        var plan = try UploadPlan(request, bucket: bucket, document: try JSONValue.parseObject(body))
        plan.attributes.contentType = plan.attributes.contentType ?? request.headers["X-Upload-Content-Type"]
        try plan.preconditions.check(try index.object(plan.name, in: record))
        let announced = request.headers["X-Upload-Content-Length"]
        let id = try sessions.start(plan, announcedSize: announced.flatMap { Int64($0) })
        let name = String(decoding: percentEncoded(plan.name.bytes), as: UTF8.self)
        let path = "/upload/storage/v1/b/\(bucket)/o?uploadType=resumable&name=\(name)&upload_id=\(id)"
        return Response(
            status: 200, headers: [("Location", root(request) + path), ("X-GUploader-UploadID", id)])
    }

    /// `DELETE` of a session.
    func cancelUpload(_ id: String) throws(APIError) -> Response {
        let session = try sessions.checkOut(id)
        defer { sessions.checkIn(session) }
        if case .ended = session.progress() { throw .gone }
        try sessions.end(session, .cancelled)
        return Response(status: 499)
    }
}

/// `PUT` to a session: takes a chunk, or tells how much is there.
final class ResumableUpload: BodyReceiver {
    private let service: Service
    private let request: Request
    private let session: UploadSession
    private let range: ContentRange
    private let turn: Int
    private(set) var position: Int64
    private var received: Int64 = 0

    var completesObject: Bool {
        if case .receiving(let stored) = session.progress() { isComplete(stored) } else { false }
    }

    init(_ service: Service, _ request: Request, uploadID: String) throws(APIError) {
        self.service = service
        self.request = request
        range = try ContentRange(request.headers["Content-Range"])
        // From here on nothing throws before `deinit` is due, which checks it in.
        session = try service.sessions.checkOut(uploadID)
        position = if case .chunk(let first, _, _) = range { first } else { 0 }
        turn = session.takeTurn()
        try checkAnnouncedSize()
        try checkLength()
    }

    deinit { service.sessions.checkIn(session) }

    func receive(_ bytes: RawSpan) throws(APIError) {
        guard case .receiving = session.progress() else { return }
        if case .query = range { throw .invalid("A status query has no body.") }
        try session.append(bytes, at: position, turn: turn)
        position += Int64(bytes.byteCount)
        received += Int64(bytes.byteCount)
    }

    func abandon() { session.endChunk(turn: turn) }

    func finish() throws(APIError) -> Response {
        switch session.progress() {
        case .ended: throw .gone
        case .done(let object): return try answer(object)
        case .receiving(let stored):
            guard isComplete(stored) else {
                session.endChunk(turn: turn)
                return incomplete()
            }
            return try answer(try complete())
        }
    }

    /// Whether the object is all there once this request's body is.
    private func isComplete(_ stored: Int64) -> Bool {
        switch range {
        case .whole: stored == received
        case .chunk(_, let last, let total):
            (total ?? session.announcedSize ?? (last == nil ? position : nil)) == stored
        case .query(let total): total == stored
        }
    }

    private func complete() throws(APIError) -> ObjectRecord {
        var plan = session.plan
        plan.attributes.setMetadata(request.headers.withPrefix("x-goog-meta-"))
        try plan.expected.add(header: request.headers.all("x-goog-hash"))
        let bucket = try service.index.bucket(plan.bucket)
        return try session.finish(turn: turn) { (staged) throws(APIError) in
            try service.commit(staged, as: plan, in: bucket) { (change, object) throws(APIError) in
                try service.sessions.markDone(session, object, in: change)
            }
        }
    }

    private func answer(_ object: ObjectRecord) throws(APIError) -> Response {
        try service.resource(of: object, request, bucket: session.plan.bucket)
    }

    /// 308, with the range that is stored; no `Range` when nothing is.
    private func incomplete() -> Response {
        guard case .receiving(let stored) = session.progress() else { return Response(status: 308) }
        var response = Response(status: 308)
        if request.headers["X-GUploader-No-308"] == "yes" {
            response.status = 200
            response.headers.append(("X-HTTP-Status-Code-Override", "308"))
        }
        if stored > 0 { response.headers.append(("Range", "bytes=0-\(stored - 1)")) }
        response.headers.append(("X-GUploader-UploadID", session.id))
        return response
    }

    private func checkAnnouncedSize() throws(APIError) {
        let total: Int64? =
            switch range {
            case .chunk(_, _, let total), .query(let total): total
            case .whole: nil
            }
        guard let total, let announced = session.announcedSize, total != announced else { return }
        throw .invalid("X-Upload-Content-Length announced \(announced) bytes, Content-Range says \(total).")
    }

    private func checkLength() throws(APIError) {
        guard case .chunk(let first, let last?, _) = range, let length = request.headers["Content-Length"] else {
            return
        }
        guard Int64(length) == last - first + 1 else {
            throw .invalid("Content-Length is \(length), but Content-Range names \(last - first + 1) bytes.")
        }
    }
}

extension APIError {
    fileprivate static let gone = APIError(status: 410, reason: "gone", message: "The upload was cancelled.")
}
