/// `DELETE /b/{B}/o/{O}`.
extension Service {
    func deleteObject(_ request: Request, bucket: String, _ name: ObjectName) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        let generation = try request.target.number("generation")
        let preconditions = try Preconditions(request)
        try change(record) { (change) throws(APIError) in
            let object = try change.existing(name, generation: generation)
            try preconditions.check(object)
            try change.remove(object)
        }
        return .noContent
    }
}
