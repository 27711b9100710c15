import HTTPTransport
package import ObjectStore

/// `GET /v0/b/{B}/o` (PROTOCOL 1.6). Tells names alone, and never those with an empty segment: a folder's placeholder
/// shows as the folder, and nowhere else.
extension FirebaseStore {
    package func list(_ query: ListQuery) async throws(StorageError) -> ListPage {
        var parameters = Query()
        if !query.prefix.bytes.isEmpty { parameters.add("prefix", bytes: query.prefix.bytes) }
        if query.collapsesFolders { parameters.add("delimiter", "/") }
        parameters.add("maxResults", Int64(min(max(query.pageSize, 1), 1_000)))
        if let token = query.pageToken { parameters.add("pageToken", token) }
        let prefix = query.prefix.bytes.isEmpty ? nil : query.prefix
        let call = Call("list", prefix, .get, routes.objects(parameters), safety: .repeatable)
        let answer: HTTPAnswer
        do {
            answer = try await self.answer(to: call)
        } catch let error where error.kind == .notFound {
            // Only a missing bucket makes a list fail so: a prefix without objects is an empty page.
            throw StorageError(
                .notFound, operation: "list", object: prefix, httpStatus: error.httpStatus,
                message: "there is no bucket “\(bucket)”")
        }
        do throws(AnswerDocument.Malformed) {
            let document = try AnswerDocument(answer.body, .namePage)
            let page = ListPage(
                names: document.names(), folders: document.prefixes(), nextPageToken: document.nextPageToken)
            return try page.checked(against: query)
        } catch {
            throw ObjectResource.malformed(error, answer, "list", prefix)
        }
    }

    package func checkBucket(listing prefix: ObjectName) async throws(StorageError) {
        _ = try await list(ListQuery(prefix: prefix, collapsesFolders: true, pageSize: 1))
    }
}
