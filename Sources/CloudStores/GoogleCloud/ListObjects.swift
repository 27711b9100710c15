import HTTPTransport
package import ObjectStore

/// `GET /b/{B}/o` (PROTOCOL 4.3).
extension GoogleCloudStore {
    package func list(_ query: ListQuery) async throws(StorageError) -> ListPage {
        let answer = try await listAnswer(query, fields: Self.pageFields)
        do throws(AnswerDocument.Malformed) {
            let document = try AnswerDocument(answer.body, .page)
            let page = ListPage(
                items: try document.objects(), folders: document.prefixes(), nextPageToken: document.nextPageToken)
            return try page.checked(against: query)
        } catch {
            throw ObjectResource.malformed(error, answer, "list", query.prefix)
        }
    }

    package func checkBucket(listing prefix: ObjectName = ObjectName([])) async throws(StorageError) {
        let answer = try await listAnswer(
            ListQuery(prefix: prefix, collapsesFolders: true, pageSize: 1), fields: "kind,nextPageToken")
        do throws(AnswerDocument.Malformed) {
            _ = try AnswerDocument(answer.body, .page)
        } catch {
            throw ObjectResource.malformed(error, answer, "list", nil)
        }
    }

    /// With `kind`, so that an empty page still shows that it is a page.
    private static let pageFields = "kind,nextPageToken,prefixes,items(\(ObjectResource.fields))"

    private func listAnswer(_ query: ListQuery, fields: String) async throws(StorageError) -> HTTPAnswer {
        var parameters = Query()
        if !query.prefix.bytes.isEmpty { parameters.add("prefix", bytes: query.prefix.bytes) }
        if query.collapsesFolders {
            parameters.add("delimiter", "/")
            // A folder's placeholder then comes as an item too, so that its time costs no request of its own.
            parameters.add("includeTrailingDelimiter", "true")
            // Of a hierarchical bucket folders that nothing is in, too.
            parameters.add("includeFoldersAsPrefixes", "true")
        }
        parameters.add("maxResults", Int64(min(max(query.pageSize, 1), 1_000)))
        if let token = query.pageToken { parameters.add("pageToken", token) }
        parameters.add("prettyPrint", "false")
        parameters.add("fields", fields)
        let prefix = query.prefix.bytes.isEmpty ? nil : query.prefix
        let call = Call("list", prefix, .get, routes.objects(parameters), safety: .repeatable)
        do {
            return try await caller.answer(to: call)
        } catch let error where error.kind == .notFound {
            // Only a missing bucket makes a list fail so: a prefix without objects is an empty page.
            throw StorageError(
                .notFound, operation: "list", object: prefix, httpStatus: error.httpStatus,
                message: "there is no bucket “\(bucket)”")
        }
    }
}
