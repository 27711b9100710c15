/// Where a request goes: its operation, by the name that faults and the request log use, and who takes its body.
struct Route {
    enum Intake {
        case document(limit: Int, ([UInt8]) throws(APIError) -> Response)
        case stream(() throws(APIError) -> any BodyReceiver)
    }

    let operation: String
    var name: ObjectName?
    /// Steers the server itself: not counted, not hit by faults.
    var isControl = false
    let intake: Intake

    init(_ operation: String, _ name: ObjectName? = nil, intake: Intake) {
        self.operation = operation
        self.name = name
        self.intake = intake
    }

    /// A call whose body, if any, is a small document.
    init(
        _ operation: String, _ name: ObjectName? = nil,
        answer: @escaping (_ body: [UInt8]) throws(APIError) -> Response
    ) {
        self.init(operation, name, intake: .document(limit: 1 << 20, answer))
    }
}

extension Service {
    /// - Throws: 404 for an address nobody serves, 405 for a method it does not know, 400 for a bad name, 401.
    func route(_ request: Request) throws(APIError) -> Route {
        let path = request.target.path
        switch (path.first, path.dropFirst().first) {
        case ("storage", "v1"), ("download", "storage"):
            try tokens.authorize(request.headers["Authorization"])
            return try routeStorage(request, path[(path.first == "storage" ? 2 : 3)...])
        case ("upload", "storage"): return try routeUpload(request, path.dropFirst(3))
        case ("v0", _): return try routeFirebase(request, path.dropFirst())
        case ("resumable", "upload"): return try routeUpload(request, path.dropFirst(4))
        case ("batch", _):
            try tokens.authorize(request.headers["Authorization"])
            return Route(
                "storage.batch",
                intake: .document(limit: Self.longestBatch) { (body) throws(APIError) in try self.batch(request, body) }
            )
        case ("token", nil):
            return Route("oauth2.token") { (body) throws(APIError) in try self.grantToken(body) }
        case ("internal", "setRules") where path.count == 2: return try routeSetRules(request)
        case ("internal", "reset") where request.method == "POST":
            return .control { (_) throws(APIError) in try self.reset() }
        case ("_firemount", _): return try routeControl(request, path.dropFirst())
        case ("retry_test", let id): return try routeRetryTest(request, id: id)
        case ("", nil) where request.isRead:
            return .control { (_) throws(APIError) in
                Response(json: Array(#"{"emulator":"storage","authEmulator":{"ready":true}}"#.utf8))
            }
        default:
            if let route = try routeAuth(request, path) { return route }
            throw .notFound(path.joined(separator: "/"))
        }
    }

    /// `/storage/v1/…`, after the version.
    private func routeStorage(_ request: Request, _ path: ArraySlice<String>) throws(APIError) -> Route {
        guard path.first == "b" else { throw .notFound(path.joined(separator: "/")) }
        let rest = Array(path.dropFirst())
        guard let bucket = rest.first else { return try routeBuckets(request) }
        guard rest.count > 1 else { return try routeBucket(request, bucket) }
        switch (rest[1], rest.count) {
        case ("storageLayout", 2):
            return Route("storage.buckets.getStorageLayout") { (_) throws(APIError) in
                try self.getStorageLayout(bucket: bucket)
            }
        case ("folders", _): return try routeFolders(request, bucket, Array(rest.dropFirst(2)))
        case ("operations", 3):
            return Route("storage.buckets.operations.get") { (_) throws(APIError) in
                try self.operations.poll(bucket: bucket, id: rest[2])
            }
        case ("o", 2):
            guard request.isRead else { throw .methodNotAllowed }
            return Route("storage.objects.list") { (_) throws(APIError) in
                try self.listObjects(request, bucket: bucket)
            }
        case ("o", 3): return try routeObject(request, bucket, try ObjectName(validating: rest[2]))
        case ("o", 4...):
            guard request.method == "POST" else { throw .methodNotAllowed }
            return try routeObjectAction(request, bucket, try ObjectName(validating: rest[2]), Array(rest[3...]))
        default: throw .notFound(path.joined(separator: "/"))
        }
    }

    private func routeBuckets(_ request: Request) throws(APIError) -> Route {
        switch request.method {
        case "GET", "HEAD":
            Route("storage.buckets.list") { (_) throws(APIError) in try self.listBuckets(request) }
        case "POST":
            Route("storage.buckets.insert") { (body) throws(APIError) in try self.insertBucket(request, body) }
        default: throw .methodNotAllowed
        }
    }

    private func routeBucket(_ request: Request, _ bucket: String) throws(APIError) -> Route {
        switch request.method {
        case "GET", "HEAD":
            Route("storage.buckets.get") { (_) throws(APIError) in try self.getBucket(request, bucket: bucket) }
        case "DELETE":
            Route("storage.buckets.delete") { (_) throws(APIError) in try self.deleteBucket(bucket: bucket) }
        default: throw .methodNotAllowed
        }
    }

    private func routeObject(_ request: Request, _ bucket: String, _ name: ObjectName) throws(APIError) -> Route {
        switch request.method {
        case "GET", "HEAD":
            request.wantsMedia
                ? Route("storage.objects.media", name) { (_) throws(APIError) in
                    try self.getMedia(request, bucket: bucket, name)
                }
                : Route("storage.objects.get", name) { (_) throws(APIError) in
                    try self.getObject(request, bucket: bucket, name)
                }
        case "PATCH":
            Route("storage.objects.patch", name) { (body) throws(APIError) in
                try self.patchObject(request, bucket: bucket, name, body)
            }
        case "PUT":
            Route("storage.objects.update", name) { (body) throws(APIError) in
                try self.updateObject(request, bucket: bucket, name, body)
            }
        case "DELETE":
            Route("storage.objects.delete", name) { (_) throws(APIError) in
                try self.deleteObject(request, bucket: bucket, name)
            }
        default: throw .methodNotAllowed
        }
    }

    /// `POST /b/{B}/o/{O}/…`.
    private func routeObjectAction(
        _ request: Request, _ bucket: String, _ name: ObjectName, _ action: [String]
    ) throws(APIError) -> Route {
        let source = CopyEnd(bucket: bucket, name: name)
        switch (action[0], action.count) {
        case ("compose", 1):
            return Route("storage.objects.compose", name) { (body) throws(APIError) in
                try self.composeObjects(request, bucket: bucket, name, body)
            }
        case ("moveTo", 3) where action[1] == "o":
            let destination = try ObjectName(validating: action[2])
            return Route("storage.objects.move", name) { (_) throws(APIError) in
                try self.moveObject(request, bucket: bucket, from: name, to: destination)
            }
        case ("copyTo", 5) where action[1] == "b" && action[3] == "o":
            let destination = CopyEnd(bucket: action[2], name: try ObjectName(validating: action[4]))
            return Route("storage.objects.copy", name) { (body) throws(APIError) in
                try self.copyObject(request, from: source, to: destination, body)
            }
        case ("rewriteTo", 5) where action[1] == "b" && action[3] == "o":
            let destination = CopyEnd(bucket: action[2], name: try ObjectName(validating: action[4]))
            return Route("storage.objects.rewrite", name) { (body) throws(APIError) in
                try self.rewriteObject(request, from: source, to: destination, body)
            }
        default: throw .notFound(action.joined(separator: "/"))
        }
    }

    /// `/upload/storage/v1/…` and `/resumable/upload/storage/v1/…`, after the version.
    private func routeUpload(_ request: Request, _ path: ArraySlice<String>) throws(APIError) -> Route {
        let rest = Array(path)
        guard rest.count == 3, rest[0] == "b", rest[2] == "o" else { throw .notFound(rest.joined(separator: "/")) }
        if let id = request.target["upload_id"] { return try routeSession(request, id) }
        guard request.method == "POST" else { throw .methodNotAllowed }
        try tokens.authorize(request.headers["Authorization"])
        let bucket = rest[1]
        let name = request.target["name"].map { ObjectName(stored: Array($0.utf8)) }
        switch request.target["uploadType"] {
        case "media":
            return Route(
                "storage.objects.insert", name,
                intake: .stream { () throws(APIError) in
                    try self.insertMedia(request, bucket: bucket)
                })
        case "multipart":
            return Route(
                "storage.objects.insert", name,
                intake: .stream { () throws(APIError) in
                    try self.insertMultipart(request, bucket: bucket)
                })
        case "resumable":
            return Route("storage.objects.insert.start", name) { (body) throws(APIError) in
                try self.startUpload(request, bucket: bucket, body)
            }
        case let other: throw .invalidParameter("uploadType", other ?? "")
        }
    }

    /// An upload session's address is its key: no credentials are asked for.
    private func routeSession(_ request: Request, _ id: String) throws(APIError) -> Route {
        let name = try sessions.plan(id).name
        switch request.method {
        case "PUT", "POST":
            let isQuery = if case .query = try ContentRange(request.headers["Content-Range"]) { true } else { false }
            return Route(
                isQuery ? "storage.objects.insert.query" : "storage.objects.insert.chunk", name,
                intake: .stream { () throws(APIError) in try ResumableUpload(self, request, uploadID: id) })
        case "DELETE":
            return Route("storage.objects.insert.cancel", name) { (_) throws(APIError) in try self.cancelUpload(id) }
        default: throw .methodNotAllowed
        }
    }
}

extension Request {
    var isRead: Bool { method == "GET" || method == "HEAD" }
}

extension APIError {
    static let methodNotAllowed = APIError(
        status: 405, reason: "methodNotAllowed", message: "The method is not allowed here.")
}
