/// Firebase's calls on one object (PROTOCOL 1.4 to 1.9). They know no preconditions and no generations.
extension Service {
    func getFirebaseObject(_ request: Request, bucket: String, _ name: ObjectName) throws(APIError) -> Response {
        FirebaseResource(bucket: bucket).answer(try readable(name, in: try index.bucket(bucket), request))
    }

    /// `alt=media`.
    func getFirebaseMedia(_ request: Request, bucket: String, _ name: ObjectName) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        return try mediaAnswer(request) { () throws(APIError) in try self.readable(name, in: record, request) }
    }

    func patchFirebaseObject(
        _ request: Request, bucket: String, _ name: ObjectName, _ body: [UInt8]
    ) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        let caller = try Caller(request, at: currentTime())
        let document = try JSONValue.parseObject(body)
        let changed = try change(record) { (change) throws(APIError) in
            let object = try change.object(name)
            var proposed = object
            proposed?.attributes.mergeFirebase(document)
            try self.permit(
                .update, name, in: bucket, by: caller, object: object,
                proposed: proposed.map { RulesValue($0, in: bucket) })
            guard let object, let proposed else { throw .noSuchObject(bucket, name) }
            return try change.change(object, attributes: proposed.attributes)
        }
        return FirebaseResource(bucket: bucket).answer(changed)
    }

    func deleteFirebaseObject(_ request: Request, bucket: String, _ name: ObjectName) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        let caller = try Caller(request, at: currentTime())
        try change(record) { (change) throws(APIError) in
            let object = try change.object(name)
            try self.permit(.delete, name, in: bucket, by: caller, object: object)
            guard let object else { throw .noSuchObject(bucket, name) }
            try change.remove(object)
        }
        return .noContent
    }

    /// `create_token=true`, or else `delete_token=T`. An object that has tokens never loses its last one.
    func changeDownloadTokens(_ request: Request, bucket: String, _ name: ObjectName) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        let creates = request.target["create_token"].flatMap { $0.isEmpty ? nil : $0 }
        if let creates, creates != "true" { throw .invalidParameter("create_token", creates) }
        guard try Caller(request, at: currentTime()) == .owner else { throw .forbidden("Missing admin credentials.") }
        let changed = try change(record) { (change) throws(APIError) in
            let object = try change.existing(name, generation: nil)
            var attributes = object.attributes
            if creates == nil {
                attributes.downloadTokens.removeAll { $0 == request.target["delete_token"] }
            }
            if creates != nil || attributes.downloadTokens.isEmpty { attributes.addDownloadToken() }
            return try change.change(object, attributes: attributes)
        }
        return FirebaseResource(bucket: bucket).answer(changed)
    }

    /// The object, if the caller may read it: by one of its tokens, or by the rules. It has a token from then on.
    private func readable(
        _ name: ObjectName, in bucket: BucketRecord, _ request: Request
    ) throws(APIError) -> ObjectRecord {
        let found = try index.object(name, in: bucket)
        let tokens = found?.attributes.downloadTokens ?? []
        if !tokens.contains(request.target["token"] ?? "") {
            let caller = try Caller(request, at: currentTime())
            try permit(.get, name, in: bucket.name, by: caller, object: found)
        }
        guard let found else { throw .noSuchObject(bucket.name, name) }
        return tokens.isEmpty ? try addFirstToken(name, in: bucket) : found
    }

    private func addFirstToken(_ name: ObjectName, in bucket: BucketRecord) throws(APIError) -> ObjectRecord {
        try change(bucket) { (change) throws(APIError) in
            let object = try change.existing(name, generation: nil)
            var attributes = object.attributes
            guard attributes.downloadTokens.isEmpty else { return object }
            attributes.addDownloadToken()
            return try change.change(object, attributes: attributes)
        }
    }
}
