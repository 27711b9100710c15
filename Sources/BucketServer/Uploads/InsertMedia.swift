/// `uploadType=media`: the body is the object, its metadata comes by header and query.
final class InsertMedia: BodyReceiver {
    let completesObject = true
    private let service: Service
    private let request: Request
    private let bucket: BucketRecord
    private let plan: UploadPlan
    private let staged: StagedContent

    init(_ service: Service, _ request: Request, bucket: String) throws(APIError) {
        self.service = service
        self.request = request
        self.bucket = try service.index.bucket(bucket)
        var plan = try UploadPlan(request, bucket: bucket)
        plan.attributes.contentType = request.headers["Content-Type"]
        try plan.preconditions.check(try service.index.object(plan.name, in: self.bucket))
        self.plan = plan
        staged = try service.files.stage()
    }

    var position: Int64 { staged.size }

    func receive(_ bytes: RawSpan) throws(APIError) { try staged.append(bytes) }

    func finish() throws(APIError) -> Response {
        try service.resource(of: try service.commit(staged, as: plan, in: bucket), request, bucket: bucket.name)
    }
}
