extension Service {
    /// `/b/{B}/folders…`, after `folders`.
    func routeFolders(_ request: Request, _ bucket: String, _ rest: [String]) throws(APIError) -> Route {
        switch (request.method, rest.count) {
        case ("GET", 0):
            return Route("storage.folders.list") { (_) throws(APIError) in
                try self.listFolders(request, bucket: bucket)
            }
        case ("POST", 0):
            return Route("storage.folders.insert") { (body) throws(APIError) in
                try self.insertFolder(request, bucket: bucket, body)
            }
        case ("GET", 1):
            return Route("storage.folders.get", folder(rest)) { (_) throws(APIError) in
                try self.getFolder(request, bucket: bucket, rest[0])
            }
        case ("DELETE", 1):
            return Route("storage.folders.delete", folder(rest)) { (_) throws(APIError) in
                try self.deleteFolder(bucket: bucket, rest[0])
            }
        case ("POST", 4) where rest[1] == "renameTo" && rest[2] == "folders":
            return Route("storage.folders.rename", folder(rest)) { (_) throws(APIError) in
                try self.renameFolder(request, bucket: bucket, from: rest[0], to: rest[3])
            }
        case ("POST", 2) where rest[1] == "deleteRecursive":
            return Route("storage.folders.deleteRecursive", folder(rest)) { (_) throws(APIError) in
                try self.deleteFolderRecursively(bucket: bucket, rest[0])
            }
        default: throw .notFound("folders/\(rest.joined(separator: "/"))")
        }
    }

    private func folder(_ rest: [String]) -> ObjectName { ObjectName(stored: Array(rest[0].utf8)) }
}
