/// `GET /b/{B}/o`.
extension Service {
    private static let largestPage: Int64 = 1000

    func listObjects(_ request: Request, bucket: String) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        var query = try listQuery(request.target)
        if record.isHierarchical, request.target.flag("includeFoldersAsPrefixes") {
            guard query.delimiter == [UInt8(ascii: "/")] else {
                throw .invalid("includeFoldersAsPrefixes needs the delimiter '/'.")
            }
            query.includesFolders = true
        }
        let page = try index.read { [query] (database) throws(APIError) in try database.list(query, in: record) }
        return Response(json: try document(of: page, request, bucket: bucket))
    }

    private func listQuery(_ target: Target) throws(APIError) -> ListQuery {
        var query = ListQuery()
        query.prefix = Array((target["prefix"] ?? "").utf8)
        query.delimiter = Array((target["delimiter"] ?? "").utf8)
        query.startOffset = Array((target["startOffset"] ?? "").utf8)
        query.endOffset = target["endOffset"].flatMap { $0.isEmpty ? nil : Array($0.utf8) }
        query.includesTrailingDelimiter = target.flag("includeTrailingDelimiter")
        if let pattern = target["matchGlob"], !pattern.isEmpty { query.glob = try Glob(pattern) }
        if let limit = try target.number("maxResults") {
            guard limit >= 0 else { throw .invalidParameter("maxResults", String(limit)) }
            query.limit = limit == 0 ? Int(Self.largestPage) : Int(min(limit, Self.largestPage))
        }
        if let token = target["pageToken"], !token.isEmpty { query.position = try ListPosition(token: token) }
        return query
    }

    private func document(of page: ListPage, _ request: Request, bucket: String) throws(APIError) -> [UInt8] {
        let mask = try FieldMask(request.target["fields"])
        let resource = ObjectResource(bucket: bucket, root: root(request), mask: mask["items"])
        var json = JSONWriter(capacity: 256 + page.items.count * 1024)
        json.object { json in
            if mask.wants("kind") { json.string("kind", "storage#objects") }
            if mask.wants("items"), !page.items.isEmpty {
                json.array("items") { json in
                    for item in page.items { resource.write(item, to: &json) }
                }
            }
            if mask.wants("prefixes"), !page.prefixes.isEmpty {
                json.array("prefixes") { json in
                    for prefix in page.prefixes { json.string(nil, utf8: prefix) }
                }
            }
            if mask.wants("nextPageToken"), let next = page.next { json.string("nextPageToken", next.token) }
        }
        return json.bytes
    }
}
