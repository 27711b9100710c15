/// The Firebase Storage API, `/v0/…` (PROTOCOL 1.1).
extension Service {
    /// - Parameter path: after the version.
    func routeFirebase(_ request: Request, _ path: ArraySlice<String>) throws(APIError) -> Route {
        let rest = path.last == "" ? Array(path.dropLast()) : Array(path)
        if rest.isEmpty, request.isRead {
            return .control { (_) throws(APIError) in Response(json: Array(#"{"emulator":"storage"}"#.utf8)) }
        }
        guard rest.count >= 3, rest[0] == "b", rest[2] == "o", rest.count <= 4 else {
            throw .notFound(request.target.path.joined(separator: "/"))
        }
        let bucket = rest[1]
        guard rest.count == 4 else {
            guard !["GET", "HEAD"].contains(request.firebaseMethod) else {
                return Route("firebase.objects.list") { (_) throws(APIError) in
                    try self.listFirebaseObjects(request, bucket: bucket)
                }
            }
            return try routeFirebaseUpload(request, bucket, name: nil)
        }
        return try routeFirebaseObject(request, bucket, try ObjectName(validating: rest[3]))
    }

    private func routeFirebaseObject(
        _ request: Request, _ bucket: String, _ name: ObjectName
    ) throws(APIError) -> Route {
        switch request.firebaseMethod {
        case "GET", "HEAD":
            return request.wantsMedia
                ? Route("firebase.objects.media", name) { (_) throws(APIError) in
                    try self.getFirebaseMedia(request, bucket: bucket, name)
                }
                : Route("firebase.objects.get", name) { (_) throws(APIError) in
                    try self.getFirebaseObject(request, bucket: bucket, name)
                }
        case "PATCH":
            return Route("firebase.objects.patch", name) { (body) throws(APIError) in
                try self.patchFirebaseObject(request, bucket: bucket, name, body)
            }
        case "DELETE":
            return Route("firebase.objects.delete", name) { (_) throws(APIError) in
                try self.deleteFirebaseObject(request, bucket: bucket, name)
            }
        case "POST" where request.changesTokens:
            return Route("firebase.objects.tokens", name) { (_) throws(APIError) in
                try self.changeDownloadTokens(request, bucket: bucket, name)
            }
        default: return try routeFirebaseUpload(request, bucket, name: name)
        }
    }

    /// - Parameter name: from the path; the query may have it otherwise.
    private func routeFirebaseUpload(
        _ request: Request, _ bucket: String, name: ObjectName?
    ) throws(APIError) -> Route {
        guard ["POST", "PUT"].contains(request.firebaseMethod) else { throw .methodNotAllowed }
        let protocolName = request.headers["X-Goog-Upload-Protocol"]?.lowercased()
        let commands = UploadCommands(request.headers["X-Goog-Upload-Command"])
        if let commands, !commands.starts { return try routeFirebaseSession(request, commands) }
        let name = if let name { name } else { try ObjectName(validating: request.target["name"] ?? "") }
        if commands != nil {
            return Route("firebase.uploads.start", name) { (body) throws(APIError) in
                try self.startFirebaseUpload(request, bucket: bucket, name, body)
            }
        }
        switch protocolName {
        case "resumable": throw .invalid("A resumable upload needs X-Goog-Upload-Command.")
        case "multipart":
            return Route(
                "firebase.objects.insert", name,
                intake: .stream { () throws(APIError) in
                    try self.insertFirebaseMultipart(request, bucket: bucket, name)
                })
        default:
            return Route(
                "firebase.objects.insert", name,
                intake: .stream { () throws(APIError) in
                    try self.insertFirebaseMedia(request, bucket: bucket, name)
                })
        }
    }

    /// An upload session's address is its key: no credentials are asked for.
    private func routeFirebaseSession(_ request: Request, _ commands: UploadCommands) throws(APIError) -> Route {
        guard let id = request.target["upload_id"] else { throw .required("upload_id") }
        let plan = try sessions.plan(id)
        guard plan.caller != nil else { throw .notFound("upload \(id)") }
        if commands.queries {
            return Route("firebase.uploads.query", plan.name) { (_) throws(APIError) in
                try self.queryFirebaseUpload(id)
            }
        }
        if commands.cancels {
            return Route("firebase.uploads.cancel", plan.name) { (_) throws(APIError) in
                try self.cancelFirebaseUpload(id)
            }
        }
        guard commands.uploads || commands.finalizes else { throw .invalid("Unknown X-Goog-Upload-Command.") }
        return Route(
            "firebase.uploads.chunk", plan.name,
            intake: .stream { () throws(APIError) in try FirebaseChunk(self, request, uploadID: id, commands) })
    }
}

extension Request {
    /// Here the override counts for PUT alone.
    fileprivate var firebaseMethod: String {
        sentMethod == "PUT" && headers["X-HTTP-Method-Override"]?.uppercased() == "PATCH" ? "PATCH" : sentMethod
    }

    fileprivate var changesTokens: Bool {
        ["create_token", "delete_token"].contains { target[$0].map { !$0.isEmpty } == true }
    }
}
