/// `GET /b/{B}/o/{O}`: the metadata.
extension Service {
    func getObject(_ request: Request, bucket: String, _ name: ObjectName) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        return try resource(of: try live(name, in: record, request), request, bucket: bucket)
    }

    /// The live object a read asks for: its generation and preconditions hold.
    func live(_ name: ObjectName, in bucket: BucketRecord, _ request: Request) throws(APIError) -> ObjectRecord {
        let generation = try request.target.number("generation")
        let found = try index.object(name, in: bucket)
        guard let object = found, generation == nil || generation == object.generation else {
            throw .noSuchObject(bucket.name, name)
        }
        try Preconditions(request).check(object, reading: true)
        return object
    }

    /// The object's resource as an answer, cut to the request's `fields`.
    func resource(of object: ObjectRecord, _ request: Request, bucket: String) throws(APIError) -> Response {
        let mask = try FieldMask(request.target["fields"])
        var response = Response(json: ObjectResource(bucket: bucket, root: root(request), mask: mask).document(object))
        response.headers.append(("ETag", String(decoding: object.etag, as: UTF8.self)))
        return response
    }

    /// The server's address as the client knows it.
    func root(_ request: Request) -> String { "http://\(request.headers["Host"] ?? "localhost")" }
}
