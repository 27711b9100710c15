/// `PATCH /b/{B}/o/{O}`: merges metadata. `PUT` of the same replaces it.
extension Service {
    func patchObject(
        _ request: Request, bucket: String, _ name: ObjectName, _ body: [UInt8]
    ) throws(APIError) -> Response {
        let document = try JSONValue.parseObject(body)
        return try changeAttributes(request, bucket: bucket, name) { $0.merge(document) }
    }

    func updateObject(
        _ request: Request, bucket: String, _ name: ObjectName, _ body: [UInt8]
    ) throws(APIError) -> Response {
        let document = try JSONValue.parseObject(body)
        return try changeAttributes(request, bucket: bucket, name) { attributes in
            let storageClass = attributes.storageClass
            attributes = ObjectAttributes(document: document)
            attributes.storageClass = storageClass
        }
    }

    private func changeAttributes(
        _ request: Request, bucket: String, _ name: ObjectName, _ edit: (inout ObjectAttributes) -> Void
    ) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        let generation = try request.target.number("generation")
        let preconditions = try Preconditions(request)
        let changed = try change(record) { (change) throws(APIError) in
            let object = try change.existing(name, generation: generation)
            try preconditions.check(object)
            var attributes = object.attributes
            edit(&attributes)
            return try change.change(object, attributes: attributes)
        }
        return try resource(of: changed, request, bucket: bucket)
    }
}
