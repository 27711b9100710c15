/// The steps of a Firebase resumable upload, `X-Goog-Upload-*` (PROTOCOL 1.11).
extension Service {
    /// Answers with the session's address, which is its own credential.
    func startFirebaseUpload(
        _ request: Request, bucket: String, _ name: ObjectName, _ body: [UInt8]
    ) throws(APIError) -> Response {
        let document = try JSONValue.parseObject(body)
        var plan = try firebasePlan(request, bucket: bucket, name, document)
        if document["contentType"]?.text == nil, let type = request.announced("Type") {
            plan.attributes.contentType = type
        }
        let size = try request.announcedSize()
        try permitStart(of: plan, size: size)
        let id = try sessions.start(plan, announcedSize: size)
        let escaped = String(decoding: percentEncoded(plan.name.bytes), as: UTF8.self)
        let url = "\(root(request))/v0/b/\(bucket)/o?name=\(escaped)&upload_id=\(id)&upload_protocol=resumable"
        return Response(
            status: 200,
            headers: [
                UploadStatus.active.header, ("X-Goog-Upload-URL", url), ("X-Goog-Upload-Control-URL", url),
                ("X-Goog-Upload-Chunk-Granularity", String(StagedContent.granule)), ("X-GUploader-UploadID", id),
            ])
    }

    /// `query`: how much is there?
    func queryFirebaseUpload(_ id: String) throws(APIError) -> Response {
        let session = try sessions.checkOut(id)
        defer { sessions.checkIn(session) }
        // A connection that its client gave up must not add to what is told here.
        _ = session.takeTurn()
        switch session.progress() {
        case .receiving(let stored):
            return Response(
                status: 200,
                headers: [UploadStatus.active.header, ("X-Goog-Upload-Size-Received", String(stored))])
        case .done(let object): return finalAnswer(object, bucket: session.plan.bucket)
        case .ended(.cancelled): return Response(status: 410, headers: [UploadStatus.cancelled.header])
        case .ended(.refused(let status, let message)): throw .refused(status, message, .final)
        case .ended(.replaced): return .final
        }
    }

    func cancelFirebaseUpload(_ id: String) throws(APIError) -> Response {
        let session = try sessions.checkOut(id)
        defer { sessions.checkIn(session) }
        switch session.progress() {
        case .receiving: try sessions.end(session, .cancelled)
        case .ended(.cancelled): break
        case .done, .ended(.refused), .ended(.replaced):
            throw .refused(400, "The upload is final and cannot be cancelled.", .final)
        }
        return Response(status: 200, headers: [UploadStatus.cancelled.header])
    }

    fileprivate func finalAnswer(_ object: ObjectRecord, bucket: String) -> Response {
        var response = FirebaseResource(bucket: bucket).answer(object)
        response.headers.append(UploadStatus.final.header)
        return response
    }
}

/// `upload`, `finalize` or both, sent to a session.
final class FirebaseChunk: BodyReceiver {
    private let service: Service
    private let session: UploadSession
    private let commands: UploadCommands
    private let turn: Int
    private(set) var position: Int64
    private var received: Int64 = 0

    var completesObject: Bool {
        if commands.finalizes, case .receiving = session.progress() { true } else { false }
    }

    init(_ service: Service, _ request: Request, uploadID: String, _ commands: UploadCommands) throws(APIError) {
        self.service = service
        self.commands = commands
        let offset = request.headers["X-Goog-Upload-Offset"]
        position = offset.flatMap { Int64($0) } ?? 0
        // From here on nothing throws before `deinit` is due, which checks it in.
        session = try service.sessions.checkOut(uploadID)
        turn = session.takeTurn()
        guard offset == nil || Int64(offset ?? "") != nil else {
            throw .refused(400, "X-Goog-Upload-Offset is no number.", .active)
        }
        try checkState()
        let length = request.headers["Content-Length"].flatMap { Int64($0) }
        if commands.uploads, !commands.finalizes { try checkGranularity(length ?? 0) }
    }

    deinit { service.sessions.checkIn(session) }

    func receive(_ bytes: RawSpan) throws(APIError) {
        guard case .receiving = session.progress() else { return }
        guard commands.uploads else { throw .refused(400, "A finalize without upload has no body.", .active) }
        try session.append(bytes, at: position, turn: turn)
        position += Int64(bytes.byteCount)
        received += Int64(bytes.byteCount)
    }

    func abandon() { session.endChunk(turn: turn) }

    func finish() throws(APIError) -> Response {
        guard commands.finalizes else {
            session.endChunk(turn: turn)
            try checkGranularity(received)
            return Response(
                status: 200,
                headers: [UploadStatus.active.header, ("X-Goog-Upload-Size-Received", String(position))])
        }
        switch session.progress() {
        case .done(let object): return service.finalAnswer(object, bucket: session.plan.bucket)
        case .ended(.refused(let status, let message)): throw .refused(status, message, .final)
        case .ended(.cancelled): throw .refused(400, "The upload was cancelled.", .cancelled)
        case .ended(.replaced): return .final
        case .receiving(let stored):
            if let announced = session.announcedSize, announced != stored {
                throw .refused(400, "\(announced) bytes were announced, \(stored) have come.", .active)
            }
            return service.finalAnswer(try complete(), bucket: session.plan.bucket)
        }
    }

    /// A finished upload takes no more bytes; asked to finish again, it repeats its answer.
    private func checkState() throws(APIError) {
        switch session.progress() {
        case .receiving(let stored):
            guard !commands.uploads || position == stored else {
                throw .refused(409, "The offset is \(position), but \(stored) bytes have come.", .active)
            }
        case .done, .ended(.refused), .ended(.replaced):
            if commands.uploads { throw .refused(400, "The upload is final and takes no more bytes.", .final) }
        case .ended(.cancelled): throw .refused(400, "The upload was cancelled.", .cancelled)
        }
    }

    private func checkGranularity(_ length: Int64) throws(APIError) {
        guard length % StagedContent.granule != 0 else { return }
        throw .refused(400, "A chunk of \(length) bytes is no multiple of \(StagedContent.granule).", .active)
    }

    /// Makes the bytes an object. What is refused now, by the rules above all, stays refused.
    private func complete() throws(APIError) -> ObjectRecord {
        do throws(APIError) {
            return try session.finish(turn: turn) { (staged) throws(APIError) in
                try service.commitFirebase(staged, as: session.plan) { (change, object) throws(APIError) in
                    try service.sessions.markDone(session, object, in: change)
                }
            }
        } catch  where (400..<500).contains(error.status) {
            try service.sessions.end(session, .refused(status: error.status, message: error.message))
            throw .refused(error.status, error.message, .final)
        }
    }
}

/// `X-Goog-Upload-Command`: a comma list.
struct UploadCommands {
    private let words: Set<String>

    init?(_ header: String?) {
        guard let header else { return nil }
        words = Set(header.lowercased().split { $0 == "," || $0 == " " }.map(String.init))
    }

    var starts: Bool { words.contains("start") }
    var queries: Bool { words.contains("query") }
    var cancels: Bool { words.contains("cancel") }
    var uploads: Bool { words.contains("upload") }
    var finalizes: Bool { words.contains("finalize") }
}

/// `X-Goog-Upload-Status`: whether a client should go on.
private enum UploadStatus: String {
    case active, final, cancelled

    var header: (String, String) { ("X-Goog-Upload-Status", rawValue) }
}

extension Response {
    /// The upload was stored, but there is no resource to show: the client asks for the metadata.
    fileprivate static var final: Response { Response(status: 200, headers: [UploadStatus.final.header]) }
}

extension APIError {
    fileprivate static func refused(_ status: Int, _ message: String, _ upload: UploadStatus) -> APIError {
        APIError(status: status, reason: "invalid", message: message, headers: [upload.header])
    }
}

extension Request {
    /// - Throws: 400 when it is no size.
    fileprivate func announcedSize() throws(APIError) -> Int64? {
        guard let text = announced("Length") else { return nil }
        guard let size = Int64(text), size >= 0 else {
            throw .invalidParameter("X-Goog-Upload-Header-Content-Length", text)
        }
        return size
    }

    /// The upload's size or type as announced at its start; clients spell the header in two ways.
    fileprivate func announced(_ what: String) -> String? {
        headers["X-Goog-Upload-Header-Content-\(what)"] ?? headers["X-Goog-Upload-Content-\(what)"]
    }
}
