/// A `multipart/related` body: metadata as JSON, and then the bytes.
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
    private let files: ContentFiles
    private let plan: (_ metadata: [String: JSONValue], _ part: Headers) throws(APIError) -> UploadPlan
    private let store: (StagedContent, UploadPlan) throws(APIError) -> Response
    private var reader: MultipartReader
    private var part = Part.none
    private var document: [String: JSONValue]?

    /// - Parameter plan: what the bytes are to become, once the metadata and their part's headers are read.
    /// - Parameter store: makes the object of it and answers.
    init(
        _ files: ContentFiles, contentType: String?,
        plan: @escaping ([String: JSONValue], Headers) throws(APIError) -> UploadPlan,
        store: @escaping (StagedContent, UploadPlan) throws(APIError) -> Response
    ) throws(APIError) {
        self.files = files
        self.plan = plan
        self.store = store
        reader = try MultipartReader(contentType: contentType)
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
        return try store(staged, plan)
    }

    func partBegan(_ headers: Headers) throws(APIError) {
        guard let document else {
            part = .metadata([])
            return
        }
        if case .done = part { throw .invalid("The multipart body has more than two parts.") }
        part = .media(try plan(document, headers), try files.stage())
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

extension Service {
    /// `POST …/o?uploadType=multipart`.
    func insertMultipart(_ request: Request, bucket: String) throws(APIError) -> InsertMultipart {
        let record = try index.bucket(bucket)
        return try InsertMultipart(files, contentType: request.headers["Content-Type"]) {
            (document, headers) throws(APIError) in
            var plan = try UploadPlan(request, bucket: bucket, document: document)
            plan.attributes.contentType = plan.attributes.contentType ?? headers["Content-Type"]
            try plan.preconditions.check(try self.index.object(plan.name, in: record))
            return plan
        } store: { (staged, plan) throws(APIError) in
            try self.resource(of: try self.commit(staged, as: plan, in: record), request, bucket: bucket)
        }
    }
}
