/// The folder calls of hierarchical buckets (PROTOCOL 4.7).
extension Service {
    func insertFolder(_ request: Request, bucket: String, _ body: [UInt8]) throws(APIError) -> Response {
        let record = try hierarchicalBucket(bucket)
        guard let text = try JSONValue.parseObject(body)["name"]?.text else { throw .required("name") }
        let name = try folderName(text)
        let folder = try change(record) { (change) throws(APIError) in
            guard try change.database.folder(name, in: record) == nil else {
                throw .conflict("The folder \(name) exists already.")
            }
            if let parent = name.parentFolder, !request.target.flag("recursive"),
                try change.database.folder(parent, in: record) == nil
            {
                throw .notFound("the parent folder \(parent)")
            }
            try change.database.makeFolders(name.enclosingFolders, in: record)
            return try change.folder(name)
        }
        return Response(json: FolderResource(bucket: bucket, root: root(request)).document(folder))
    }

    func getFolder(_ request: Request, bucket: String, _ text: String) throws(APIError) -> Response {
        let record = try hierarchicalBucket(bucket)
        let name = try folderName(text)
        let found = try index.read { (database) throws(APIError) in try database.folder(name, in: record) }
        guard let folder = found else { throw .notFound("the folder \(name)") }
        return Response(json: FolderResource(bucket: bucket, root: root(request)).document(folder))
    }

    func deleteFolder(bucket: String, _ text: String) throws(APIError) -> Response {
        let record = try hierarchicalBucket(bucket)
        let name = try folderName(text)
        try change(record) { (change) throws(APIError) in
            _ = try change.folder(name)
            guard try !change.database.hasContents(name, in: record) else {
                throw .conflict("The folder \(name) is not empty.")
            }
            try change.database.deleteFolder(name, in: record)
        }
        return .noContent
    }

    func listFolders(_ request: Request, bucket: String) throws(APIError) -> Response {
        let record = try hierarchicalBucket(bucket)
        let query = try folderQuery(request.target)
        let found = try index.read { (database) throws(APIError) in try database.listFolders(query, in: record) }
        let resource = FolderResource(bucket: bucket, root: root(request))
        var json = JSONWriter()
        json.object { json in
            json.string("kind", "storage#folders")
            if !found.isEmpty {
                json.array("items") { json in
                    for folder in found.prefix(query.limit) { resource.write(folder, to: &json) }
                }
            }
            if found.count > query.limit {
                json.string("nextPageToken", ListPosition.afterName(found[query.limit - 1].name.bytes).token)
            }
        }
        return Response(json: json.bytes)
    }

    /// One step for the index, but answered as an operation to be polled, as the service does.
    func renameFolder(
        _ request: Request, bucket: String, from source: String, to destination: String
    ) throws(APIError) -> Response {
        let record = try hierarchicalBucket(bucket)
        let (source, destination) = (try folderName(source), try folderName(destination))
        let metageneration = try request.target.number("ifSourceMetagenerationMatch")
        let unwanted = try request.target.number("ifSourceMetagenerationNotMatch")
        guard !destination.bytes.starts(with: source.bytes) else {
            throw .invalid("A folder cannot be moved into itself.")
        }
        let renamed = try change(record) { (change) throws(APIError) in
            let folder = try change.folder(source)
            guard metageneration == nil || metageneration == folder.metageneration, unwanted != folder.metageneration
            else { throw .conditionNotMet("ifSourceMetagenerationMatch") }
            guard try change.database.folder(destination, in: record) == nil else {
                throw .conflict("The folder \(destination) exists already.")
            }
            if let parent = destination.parentFolder { _ = try change.folder(parent) }
            try change.database.renameFolder(source, to: destination, in: record)
            return try change.folder(destination)
        }
        let response = FolderResource(bucket: bucket, root: root(request)).document(renamed)
        return operations.begin(bucket: bucket, response: response)
    }

    func deleteFolderRecursively(bucket: String, _ text: String) throws(APIError) -> Response {
        let record = try hierarchicalBucket(bucket)
        let name = try folderName(text)
        try change(record) { (change) throws(APIError) in
            _ = try change.folder(name)
            change.release(try change.database.deleteRecursively(name, in: record))
        }
        return operations.begin(bucket: bucket, response: Array("{}".utf8))
    }

    private func hierarchicalBucket(_ name: String) throws(APIError) -> BucketRecord {
        let bucket = try index.bucket(name)
        guard bucket.isHierarchical else { throw .invalid("The bucket \(name) has no hierarchical namespace.") }
        return bucket
    }

    /// A folder's name may come with or without its last slash.
    private func folderName(_ text: String) throws(APIError) -> ObjectName {
        try ObjectName(validating: text.utf8.last == UInt8(ascii: "/") ? text : text + "/")
    }

    private func folderQuery(_ target: Target) throws(APIError) -> FolderQuery {
        var query = FolderQuery()
        query.prefix = Array((target["prefix"] ?? "").utf8)
        query.isShallow = target["delimiter"] == "/"
        let offset = Array((target["startOffset"] ?? "").utf8)
        query.start = query.prefix.lexicographicallyPrecedes(offset) ? offset : query.prefix
        let end = target["endOffset"].flatMap { $0.isEmpty ? nil : Array($0.utf8) }
        query.end = [successor(of: query.prefix), end].compactMap(\.self).min { $0.lexicographicallyPrecedes($1) }
        if let size = try target.number("pageSize"), size > 0 { query.limit = Int(min(size, 1000)) }
        if let token = target["pageToken"], !token.isEmpty {
            guard case .afterName(let name) = try ListPosition(token: token) else {
                throw .invalidParameter("pageToken", token)
            }
            query.start = name + [0]
        }
        return query
    }
}

extension ObjectTransaction {
    /// - Throws: 404 when there is no such folder.
    fileprivate func folder(_ name: ObjectName) throws(APIError) -> FolderRecord {
        guard let folder = try database.folder(name, in: bucket) else { throw .notFound("the folder \(name)") }
        return folder
    }
}
