import ObjectStore

/// What is directly below a reference.
///
/// Differs: `listAll` keeps the reference until it has answered, and names what a service repeats on several pages
/// once. Cancelling the calling task ends the async forms with `cancelled`.
extension StorageReference {
    /// The first page.
    /// - Parameter maxResults: items and prefixes together, 1...1000; else it fails with `invalidArgument`.
    public func list(maxResults: Int64) async throws -> StorageListResult {
        try await page(maxResults, pageToken: nil)
    }

    public func list(
        maxResults: Int64, completion: @escaping @Sendable (Result<StorageListResult, any Error>) -> Void
    ) {
        complete(completion) { () async throws(StorageError) in try await self.page(maxResults, pageToken: nil) }
    }

    public func list(
        maxResults: Int64, completion: @escaping @Sendable (StorageListResult?, (any Error)?) -> Void
    ) {
        list(maxResults: maxResults, completion: split(completion))
    }

    /// A next page.
    /// - Parameter pageToken: from the page before.
    public func list(maxResults: Int64, pageToken: String) async throws -> StorageListResult {
        try await page(maxResults, pageToken: pageToken)
    }

    public func list(
        maxResults: Int64, pageToken: String,
        completion: @escaping @Sendable (Result<StorageListResult, any Error>) -> Void
    ) {
        complete(completion) { () async throws(StorageError) in try await self.page(maxResults, pageToken: pageToken) }
    }

    public func list(
        maxResults: Int64, pageToken: String,
        completion: @escaping @Sendable (StorageListResult?, (any Error)?) -> Void
    ) {
        list(maxResults: maxResults, pageToken: pageToken, completion: split(completion))
    }

    /// All pages in one.
    public func listAll() async throws -> StorageListResult { try await allPages() }

    public func listAll(completion: @escaping @Sendable (Result<StorageListResult, any Error>) -> Void) {
        complete(completion) { () async throws(StorageError) in try await self.allPages() }
    }

    public func listAll(completion: @escaping @Sendable (StorageListResult?, (any Error)?) -> Void) {
        listAll(completion: split(completion))
    }

    private func page(_ maxResults: Int64, pageToken: String?) async throws(StorageError) -> StorageListResult {
        guard (1...1_000).contains(maxResults) else {
            throw .invalidArgument(message: "Argument 'maxResults' must be between 1 and 1000 inclusive.")
        }
        return result(try await listPage(size: Int(maxResults), token: pageToken))
    }

    private func allPages() async throws(StorageError) -> StorageListResult {
        var all = ListPage(folders: [], nextPageToken: nil)
        var folders: Set<ObjectName> = []
        var tokens: Set<String> = []
        repeat {
            let page = try await listPage(size: 1_000, token: all.nextPageToken)
            all.names += page.objectNames
            all.folders += page.folders.filter { folders.insert($0).inserted }
            all.nextPageToken = page.nextPageToken
            if let token = page.nextPageToken, !tokens.insert(token).inserted {
                throw .unknown(
                    message: "Invalid data returned from the server: a list goes round in circles", serverError: [:])
            }
        } while all.nextPageToken != nil
        return result(all)
    }

    private func listPage(size: Int, token: String?) async throws(StorageError) -> ListPage {
        let query = ListQuery(
            prefix: location.listPrefix, collapsesFolders: true, pageSize: size, pageToken: token)
        return try await perform { (store) async throws(ObjectStore::StorageError) in try await store.list(query) }
    }

    private func result(_ page: ListPage) -> StorageListResult {
        func reference(_ name: ObjectName) -> StorageReference {
            StorageReference(storage: storage, path: StoragePath(bucket: bucket, object: name))
        }
        return StorageListResult(
            prefixes: page.folders.map {
                reference(ObjectName($0.bytes.last == slash ? $0.bytes.dropLast() : $0.bytes))
            },
            items: page.objectNames.map { reference($0) }, pageToken: page.nextPageToken)
    }
}

extension ListPage {
    /// Stores tell objects with what they know of them, or by name alone.
    fileprivate var objectNames: [ObjectName] { items.map(\.name) + names }
}
