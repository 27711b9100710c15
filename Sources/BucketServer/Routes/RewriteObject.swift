/// `POST /b/{SB}/o/{SO}/rewriteTo/b/{DB}/o/{DO}`: a copy that may take several calls.
extension Service {
    private static let mebibyte: Int64 = 1 << 20

    func rewriteObject(_ request: Request, from source: CopyEnd, to destination: CopyEnd, _ body: [UInt8])
        throws(APIError) -> Response
    {
        let copy = try Copy(request, self, from: source, to: destination, body)
        let limit = try bytesPerCall(request)
        let token = request.target["rewriteToken"]
        let step = try change(copy.destinationBucket) { (change) throws(APIError) in
            let object = try copy.sourceObject(change)
            var progress = try RewriteProgress(token: token, of: object)
            progress.advance(by: limit)
            let isDone = progress.rewritten >= object.size
            return (progress, size: object.size, result: isDone ? try copy.run(change, object) : nil)
        }
        let mask = try FieldMask(request.target["fields"])
        let resource = ObjectResource(bucket: destination.bucket, root: root(request), mask: mask["resource"])
        var json = JSONWriter()
        json.object { json in
            if mask.wants("kind") { json.string("kind", "storage#rewriteResponse") }
            if mask.wants("totalBytesRewritten") {
                json.quotedNumber("totalBytesRewritten", min(step.0.rewritten, step.size))
            }
            if mask.wants("objectSize") { json.quotedNumber("objectSize", step.size) }
            if mask.wants("done") { json.bool("done", step.result != nil) }
            if let object = step.result {
                if mask.wants("resource") { resource.write(object, to: &json, key: "resource") }
            } else if mask.wants("rewriteToken") {
                json.string("rewriteToken", step.0.token)
            }
        }
        return Response(json: json.bytes)
    }

    /// The request's `maxBytesRewrittenPerCall`, or the server's own bound if that is less.
    private func bytesPerCall(_ request: Request) throws(APIError) -> Int64 {
        guard let asked = try request.target.number("maxBytesRewrittenPerCall") else { return maxBytesRewrittenPerCall }
        guard asked > 0, asked % Self.mebibyte == 0 else {
            throw .invalidParameter("maxBytesRewrittenPerCall", String(asked))
        }
        return min(asked, maxBytesRewrittenPerCall)
    }
}

/// How far a rewrite is. The token carries it, so that the server has nothing to remember.
private struct RewriteProgress {
    private let generation: Int64
    private(set) var rewritten: Int64 = 0

    /// - Throws: 400 when the token is none, or the source is no longer the one it was given for.
    init(token: String?, of object: ObjectRecord) throws(APIError) {
        generation = object.generation
        guard let token else { return }
        let parts = base64Decoded(token).map { String(decoding: $0, as: UTF8.self) }?.split(separator: ":") ?? []
        guard parts.count == 2, Int64(parts[0]) == generation, let rewritten = Int64(parts[1]), rewritten >= 0 else {
            throw .invalidParameter("rewriteToken", token)
        }
        self.rewritten = rewritten
    }

    var token: String { String(decoding: base64(Array("\(generation):\(rewritten)".utf8)), as: UTF8.self) }

    mutating func advance(by bytes: Int64) {
        let (sum, isTooLarge) = rewritten.addingReportingOverflow(bytes)
        rewritten = isTooLarge ? .max : sum
    }
}
