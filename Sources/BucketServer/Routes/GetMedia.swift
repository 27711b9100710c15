/// `GET …?alt=media`: the bytes (PROTOCOL 4.4).
extension Service {
    /// Below this a read into memory beats handing the kernel a file.
    private static let smallBody: Int64 = 65_536

    func getMedia(_ request: Request, bucket: String, _ name: ObjectName) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        return try mediaAnswer(request) { () throws(APIError) in try self.live(name, in: record, request) }
    }

    /// The bytes that a request asks for, of the object that `find` finds.
    func mediaAnswer(_ request: Request, _ find: () throws(APIError) -> ObjectRecord) throws(APIError) -> Response {
        let (object, file) = try openLive(find)
        var response = Response(status: 200, headers: mediaHeaders(object))
        if isTranscoded(object, request) {
            response.headers.append(("x-guploader-response-body-transformations", "gunzipped"))
            response.body = .stream(Gunzip(file, length: object.size), length: nil)
            return response
        }
        if let encoding = object.attributes.contentEncoding { response.headers.append(("Content-Encoding", encoding)) }
        response.headers.append(("Accept-Ranges", "bytes"))
        switch try ByteRange(request.headers["Range"], of: object.size) {
        case .all:
            response.body = body(file, offset: 0, length: object.size)
        case .part(let offset, let length):
            response.status = 206
            response.headers.append(("Content-Range", "bytes \(offset)-\(offset + length - 1)/\(object.size)"))
            response.body = body(file, offset: offset, length: length)
        case .unsatisfiable:
            return Response(
                status: 416,
                headers: [
                    ("Content-Range", "bytes */\(object.size)"), ("Content-Type", "text/html; charset=UTF-8"),
                ], body: .bytes(Array("The requested range cannot be satisfied.".utf8)))
        }
        return response
    }

    /// The object and its open file. A replacement between looking up and opening removes the file: look again.
    private func openLive(_ find: () throws(APIError) -> ObjectRecord) throws(APIError) -> (ObjectRecord, OpenFile) {
        var object = try find()
        for _ in 0..<100 {
            if let file = files.open(object.content) { return (object, file) }
            object = try find()
        }
        throw .backend("The bytes of \(object.name) are missing.")
    }

    private func body(_ file: OpenFile, offset: Int64, length: Int64) -> Response.Body {
        length <= Self.smallBody
            ? .bytes(file.bytes(at: offset, count: Int(length))) : .file(file, offset: offset, length: length)
    }

    private func isTranscoded(_ object: ObjectRecord, _ request: Request) -> Bool {
        object.attributes.contentEncoding == "gzip"
            && request.headers["Accept-Encoding"]?.contains("gzip") != true
            && object.attributes.cacheControl?.contains("no-transform") != true
    }

    private func mediaHeaders(_ object: ObjectRecord) -> [(String, String)] {
        let attributes = object.attributes
        var hash = "crc32c=" + String(decoding: base64(crc32c: object.checksums.crc32c), as: UTF8.self)
        if let md5 = object.checksums.md5 { hash += ",md5=" + String(decoding: base64(md5), as: UTF8.self) }
        var headers = [
            ("Content-Type", attributes.contentType ?? "application/octet-stream"),
            ("ETag", String(decoding: object.etag, as: UTF8.self)),
            ("Last-Modified", httpDate(object.updated)),
            ("x-goog-generation", String(object.generation)),
            ("x-goog-metageneration", String(object.metageneration)),
            ("x-goog-storage-class", attributes.storageClass),
            ("x-goog-hash", hash),
            ("x-goog-stored-content-length", String(object.size)),
            ("x-goog-stored-content-encoding", attributes.contentEncoding ?? "identity"),
        ]
        if let value = attributes.contentDisposition { headers.append(("Content-Disposition", value)) }
        if let value = attributes.contentLanguage { headers.append(("Content-Language", value)) }
        if let value = attributes.cacheControl { headers.append(("Cache-Control", value)) }
        return headers
    }
}

/// One `Range` header, put against a size.
enum ByteRange: Equatable {
    case all
    case part(offset: Int64, length: Int64)
    case unsatisfiable

    /// Anything but one range of bytes asks for all.
    init(_ header: String?, of size: Int64) throws(APIError) {
        guard let header, header.hasPrefix("bytes="), !header.contains(",") else {
            self = .all
            return
        }
        let ends = header.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else {
            self = .all
            return
        }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (nil, let suffix?) where ends[0].isEmpty:
            let length = min(suffix, size)
            self = length > 0 ? .part(offset: size - length, length: length) : .unsatisfiable
        case (let first?, let last) where last != nil || ends[1].isEmpty:
            let end = last.map { min($0, size - 1) + 1 } ?? size
            if let last, last < first {
                self = .all
            } else {
                self = first < size ? .part(offset: first, length: end - first) : .unsatisfiable
            }
        default: self = .all
        }
    }
}
