/// A body that is the object: what it is to become was said by header and query.
final class InsertMedia: BodyReceiver {
    let completesObject = true
    private let staged: StagedContent
    private let store: (StagedContent) throws(APIError) -> Response

    /// - Parameter store: makes the object of it and answers.
    init(_ staged: StagedContent, store: @escaping (StagedContent) throws(APIError) -> Response) {
        self.staged = staged
        self.store = store
    }

    var position: Int64 { staged.size }

    func receive(_ bytes: RawSpan) throws(APIError) { try staged.append(bytes) }

    func finish() throws(APIError) -> Response { try store(staged) }
}

extension Service {
    /// `POST …/o?uploadType=media`.
    func insertMedia(_ request: Request, bucket: String) throws(APIError) -> InsertMedia {
        let record = try index.bucket(bucket)
        var plan = try UploadPlan(request, bucket: bucket)
        plan.attributes.contentType = request.headers["Content-Type"]
        try plan.preconditions.check(try index.object(plan.name, in: record))
        return InsertMedia(try files.stage()) { [plan] (staged) throws(APIError) in
            try self.resource(of: try self.commit(staged, as: plan, in: record), request, bucket: bucket)
        }
    }
}
