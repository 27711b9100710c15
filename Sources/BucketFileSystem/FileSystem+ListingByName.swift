import ObjectStore

/// Everything below a folder, where lists tell names alone.
extension FileSystem {
    /// Placeholders show in no list: each folder's is asked for. Many requests at a time.
    func allObjectsByName(below prefix: ObjectName) async throws(FileSystemError) -> [ObjectMetadata] {
        var names: [ObjectName] = []
        var folders = [prefix]
        while !folders.isEmpty {
            names += folders
            let pages = await inParallel(folders) { [self] in await allNames(in: $0) }
            folders = []
            for page in pages {
                let (found, below): ([ObjectName], [ObjectName]) = try page.get()
                names += found
                folders += below
            }
        }
        let answers = await inParallel(names) { [self] name in
            await existing { () async throws(StorageError) in try await store.metadata(of: name) }
        }
        return try answers.map { (answer) throws(FileSystemError) in try answer.get() }.compactMap(\.self)
    }

    /// The objects in a folder, and its folders.
    private func allNames(
        in folder: ObjectName
    ) async -> Result<(names: [ObjectName], folders: [ObjectName]), FileSystemError> {
        var query = ListQuery(prefix: folder, collapsesFolders: true, pageSize: configuration.listPageSize)
        var names: [ObjectName] = []
        var folders: [ObjectName] = []
        do throws(FileSystemError) {
            repeat {
                let page = try await fromStore { () async throws(StorageError) in try await store.page(query) }
                names += page.names
                // A server may tell of a folder on more than one page.
                folders += page.folders.filter { !folders.contains($0) }
                query.pageToken = page.nextPageToken
            } while query.pageToken != nil
            return .success((names, folders))
        } catch {
            return .failure(error)
        }
    }
}
