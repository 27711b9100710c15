/// `uploadType=multipart`: metadata as JSON and then the bytes, in one `multipart/related` body.
final class InsertMultipart: BodyReceiver, MultipartSink {
    /// The metadata part's bound; the service's own limit on custom metadata is far lower.
    private static let longestMetadata = 1 << 20

    private enum Part {
        case none
        case metadata([UInt8])
        case media(UploadPlan, StagedContent)
        case done(UploadPlan, StagedContent)
    }

    let completesObject = true
    private let service: Service
    private let request: Request
    private let bucket: BucketRecord
    private var reader: MultipartReader
    private var part = Part.none
    private var document: [String: JSONValue]?

    init(_ service: Service, _ request: Request, bucket: String) throws(APIError) {
        self.service = service
        self.request = request
        self.bucket = try service.index.bucket(bucket)
        reader = try MultipartReader(contentType: request.headers["Content-Type"])
    }

    var position: Int64 {
        switch part {
        case .media(_, let staged), .done(_, let staged): staged.size
        case .none, .metadata: 0
        }
    }

    func receive(_ bytes: RawSpan) throws(APIError) { try reader.read(bytes, into: self) }

    func finish() throws(APIError) -> Response {
        guard reader.isFinished, case .done(let plan, let staged) = part else {
            throw .invalid("The multipart body ends before its last boundary.")
        }
        return try service.resource(
            of: try service.commit(staged, as: plan, in: bucket), request, bucket: bucket.name)
    }

    func partBegan(_ headers: Headers) throws(APIError) {
        guard let document else {
            part = .metadata([])
            return
        }
        if case .done = part { throw .invalid("The multipart body has more than two parts.") }
        var plan = try UploadPlan(request, bucket: bucket.name, document: document)
        plan.attributes.contentType = plan.attributes.contentType ?? headers["Content-Type"]
        try plan.preconditions.check(try service.index.object(plan.name, in: bucket))
        part = .media(plan, try service.files.stage())
    }

    func partContinued(_ bytes: ArraySlice<UInt8>) throws(APIError) {
        switch part {
        case .metadata(var text):
            // Emptied first, so that appending does not copy what is there.
            part = .none
            text += bytes
            guard text.count <= Self.longestMetadata else { throw .invalid("The metadata part is too long.") }
            part = .metadata(text)
        case .media(_, let staged):
            try staged.append(bytes)
        case .none, .done: break
        }
    }

    func partEnded() throws(APIError) {
        switch part {
        case .metadata(let text): document = try JSONValue.parseObject(text)
        case .media(let plan, let staged): part = .done(plan, staged)
        case .none, .done: break
        }
    }
}
