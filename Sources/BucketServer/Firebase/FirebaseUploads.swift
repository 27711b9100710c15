/// Firebase uploads in one request (PROTOCOL 1.10), and what they have in common with resumable ones.
extension Service {
    /// A request without upload headers: the body is the object.
    func insertFirebaseMedia(_ request: Request, bucket: String, _ name: ObjectName) throws(APIError) -> InsertMedia {
        let type = request.headers["Content-Type"].map { JSONValue.string($0) }
        let plan = try firebasePlan(request, bucket: bucket, name, ["contentType": type ?? .null])
        try permitStart(of: plan, size: request.headers["Content-Length"].flatMap { Int64($0) })
        return InsertMedia(try files.stage()) { (staged) throws(APIError) in
            FirebaseResource(bucket: bucket).answer(try self.commitFirebase(staged, as: plan))
        }
    }

    /// `X-Goog-Upload-Protocol: multipart`.
    func insertFirebaseMultipart(
        _ request: Request, bucket: String, _ name: ObjectName
    ) throws(APIError) -> InsertMultipart {
        let type = request.headers["Content-Type"]
        guard type?.lowercased().hasPrefix("multipart/related") == true else {
            throw .invalid("Bad content type. \(type ?? "")")
        }
        return try InsertMultipart(files, contentType: type) { (document, part) throws(APIError) in
            var plan = try self.firebasePlan(request, bucket: bucket, name, document)
            if document["contentType"]?.text == nil, let type = part["Content-Type"] {
                plan.attributes.contentType = type
            }
            try self.permitStart(of: plan, size: nil)
            return plan
        } store: { (staged, plan) throws(APIError) in
            FirebaseResource(bucket: bucket).answer(try self.commitFirebase(staged, as: plan))
        }
    }

    /// What an upload is to become. It has a download token, and an attachment's name for browsers.
    func firebasePlan(
        _ request: Request, bucket: String, _ name: ObjectName, _ document: [String: JSONValue]
    ) throws(APIError) -> UploadPlan {
        _ = try index.bucket(bucket)
        if blocksExecutables, name.isExecutable {
            throw .forbidden("Permission denied. The free plan stores no programs: \(name)")
        }
        var attributes = ObjectAttributes()
        attributes.mergeFirebase(document)
        if attributes.downloadTokens.isEmpty { attributes.addDownloadToken() }
        attributes.contentType = attributes.contentType ?? "application/octet-stream"
        attributes.contentDisposition = attributes.contentDisposition ?? name.inlineDisposition
        return UploadPlan(
            bucket: bucket, name: name, attributes: attributes, caller: try Caller(request, at: currentTime()))
    }

    /// Asks before the bytes come, as far as the question can be answered then.
    /// - Throws: 403.
    func permitStart(of plan: UploadPlan, size: Int64?) throws(APIError) {
        let object = proposed(plan, size: size ?? 0, Checksums(crc32c: 0, md5: nil))
        guard case .map(var map) = RulesValue(object, in: plan.bucket) else { return }
        for key in ["md5Hash", "crc32c", "etag", "generation"] { map[key] = .unknown }
        if size == nil { map["size"] = .unknown }
        try permitCreate(plan, proposed: .map(map))
    }

    /// Makes the staged bytes an object, if the rules allow just these.
    func commitFirebase(
        _ staged: StagedContent, as plan: UploadPlan,
        alsoIn transaction: (ObjectTransaction, ObjectRecord) throws(APIError) -> Void = { _, _ in }
    ) throws(APIError) -> ObjectRecord {
        let object = proposed(plan, size: staged.size, staged.checksumsSoFar())
        try permitCreate(plan, proposed: RulesValue(object, in: plan.bucket))
        return try commit(staged, as: plan, in: try index.bucket(plan.bucket), alsoIn: transaction)
    }

    private func permitCreate(_ plan: UploadPlan, proposed: RulesValue) throws(APIError) {
        let existing = try index.object(plan.name, in: try index.bucket(plan.bucket))
        try permit(
            .create, plan.name, in: plan.bucket, by: plan.caller ?? .nobody, object: existing, proposed: proposed)
    }

    /// The object as it would be if it were stored now.
    private func proposed(_ plan: UploadPlan, size: Int64, _ checksums: Checksums) -> ObjectRecord {
        let now = currentTime()
        return ObjectRecord(
            name: plan.name, generation: now, metageneration: 1, size: size, checksums: checksums,
            componentCount: nil, content: ContentID(value: 0), created: now, updated: now,
            attributes: plan.attributes)
    }
}

extension UploadPlan {
    fileprivate init(bucket: String, name: ObjectName, attributes: ObjectAttributes, caller: Caller) {
        self.bucket = bucket
        self.name = name
        self.attributes = attributes
        preconditions = .none
        self.caller = caller
    }
}

extension ObjectName {
    /// What the free plan refuses (PROTOCOL 5.3).
    fileprivate var isExecutable: Bool {
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")) else { return false }
        let kind = String(decoding: bytes[(dot + 1)...], as: UTF8.self).lowercased()
        return ["exe", "dll", "bat", "apk", "ipa"].contains(kind)
    }

    /// Lets browsers show the object and save it under the last part of its name (RFC 6266, RFC 5987).
    fileprivate var inlineDisposition: String {
        let last = bytes.suffix(while: { $0 != UInt8(ascii: "/") })
        return "inline; filename*=utf-8''" + String(decoding: percentEncoded(last), as: UTF8.self)
    }
}

extension [UInt8] {
    fileprivate func suffix(while predicate: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        self[(lastIndex { !predicate($0) }.map { $0 + 1 } ?? startIndex)...]
    }
}
