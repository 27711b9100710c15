/// The bucket calls (PROTOCOL 4.7).
extension Service {
    func insertBucket(_ request: Request, _ body: [UInt8]) throws(APIError) -> Response {
        let document = try JSONValue.parseObject(body)
        guard let name = document["name"]?.text else { throw .required("name") }
        try validateBucketName(name)
        let bucket = try index.addBucket(
            name, project: request.target["project"] ?? "local",
            isHierarchical: document["hierarchicalNamespace"]?.members?["enabled"] == .bool(true))
        return try resource(of: bucket, request)
    }

    func getBucket(_ request: Request, bucket: String) throws(APIError) -> Response {
        try resource(of: try index.bucket(bucket), request)
    }

    func listBuckets(_ request: Request) throws(APIError) -> Response {
        let mask = try FieldMask(request.target["fields"])
        let prefix = request.target["prefix"] ?? ""
        let buckets = index.allBuckets().filter { $0.name.hasPrefix(prefix) }.sorted { $0.name < $1.name }
        let root = root(request)
        var json = JSONWriter()
        json.object { json in
            if mask.wants("kind") { json.string("kind", "storage#buckets") }
            if mask.wants("items"), !buckets.isEmpty {
                json.array("items") { json in
                    for bucket in buckets { write(bucket, mask: mask["items"], root: root, to: &json) }
                }
            }
        }
        return Response(json: json.bytes)
    }

    func deleteBucket(bucket: String) throws(APIError) -> Response {
        try index.removeBucket(bucket)
        return .noContent
    }

    func getStorageLayout(bucket: String) throws(APIError) -> Response {
        let bucket = try index.bucket(bucket)
        var json = JSONWriter()
        json.object { json in
            json.string("kind", "storage#storageLayout")
            json.string("bucket", bucket.name)
            json.string("location", "US")
            json.string("locationType", "multi-region")
            json.object("hierarchicalNamespace") { $0.bool("enabled", bucket.isHierarchical) }
        }
        return Response(json: json.bytes)
    }

    private func resource(of bucket: BucketRecord, _ request: Request) throws(APIError) -> Response {
        var json = JSONWriter()
        write(bucket, mask: try FieldMask(request.target["fields"]), root: root(request), to: &json)
        return Response(json: json.bytes)
    }

    private func write(_ bucket: BucketRecord, mask: FieldMask, root: String, to json: inout JSONWriter) {
        json.object { json in
            func string(_ key: String, _ value: String) {
                if mask.wants(key) { json.string(key, value) }
            }
            string("kind", "storage#bucket")
            string("id", bucket.name)
            string("selfLink", "\(root)/storage/v1/b/\(bucket.name)")
            string("name", bucket.name)
            string("projectNumber", "0")
            string("generation", String(bucket.created))
            string("metageneration", "1")
            string("location", "US")
            string("locationType", "multi-region")
            string("storageClass", "STANDARD")
            string("etag", "CAE=")
            string("timeCreated", String(decoding: rfc3339(bucket.created), as: UTF8.self))
            string("updated", String(decoding: rfc3339(bucket.created), as: UTF8.self))
            if mask.wants("iamConfiguration") {
                json.object("iamConfiguration") { $0.object("uniformBucketLevelAccess") { $0.bool("enabled", true) } }
            }
            if mask.wants("hierarchicalNamespace"), bucket.isHierarchical {
                json.object("hierarchicalNamespace") { $0.bool("enabled", true) }
            }
        }
    }
}

/// - Throws: 400 for a name no bucket can have: 3 to 222 of `a-z 0-9 - _ .`, a letter or digit at both ends.
func validateBucketName(_ name: String) throws(APIError) {
    let isPlain = name.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
    let marks: Set<Character> = ["-", "_", "."]
    guard isPlain, (3...222).contains(name.utf8.count), let first = name.first, let last = name.last,
        !marks.contains(first), !marks.contains(last)
    else { throw .invalid("Invalid bucket name: '\(name)'") }
}
