/// `GET /v0/b/{B}/o` (PROTOCOL 1.6): names only.
extension Service {
    private static let largestPage: Int64 = 1000

    func listFirebaseObjects(_ request: Request, bucket: String) throws(APIError) -> Response {
        let prefix = request.target["prefix"] ?? ""
        // By bytes: a letter before it may make the slash a part of itself for `String`.
        guard prefix.isEmpty || prefix.utf8.last == UInt8(ascii: "/") else {
            throw .invalid("The prefix parameter must be empty or end with a single / character.")
        }
        let record = try index.bucket(bucket)
        try permitList(prefix, in: bucket, by: try Caller(request, at: currentTime()))
        let query = try listQuery(request.target, prefix: prefix)
        let page = try index.read { (database) throws(APIError) in try database.list(query, in: record) }
        return Response(json: document(of: page, bucket: bucket))
    }

    private func listQuery(_ target: Target, prefix: String) throws(APIError) -> ListQuery {
        var query = ListQuery()
        query.prefix = Array(prefix.utf8)
        query.delimiter = Array((target["delimiter"] ?? "").utf8)
        query.omitsEmptySegments = true
        if let limit = try target.number("maxResults") {
            guard limit > 0 else { throw .invalidParameter("maxResults", String(limit)) }
            query.limit = Int(min(limit, Self.largestPage))
        }
        if let token = target["pageToken"], !token.isEmpty { query.position = try ListPosition(token: token) }
        return query
    }

    private func document(of page: ListPage, bucket: String) -> [UInt8] {
        var json = JSONWriter(capacity: 256 + page.items.count * 128)
        json.object { json in
            json.array("prefixes") { json in
                for prefix in page.prefixes { json.string(nil, utf8: prefix) }
            }
            json.array("items") { json in
                for item in page.items {
                    json.object { json in
                        json.string("name", utf8: item.name.bytes)
                        json.string("bucket", bucket)
                    }
                }
            }
            if let next = page.next { json.string("nextPageToken", next.token) }
        }
        return json.bytes
    }
}
