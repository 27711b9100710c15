/// `POST /b/{B}/o/{SO}/moveTo/o/{DO}`: an atomic rename; the bytes stay where they are.
extension Service {
    func moveObject(
        _ request: Request, bucket: String, from source: ObjectName, to destination: ObjectName
    ) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        guard source != destination else { throw .invalid("The source and the destination are the same object.") }
        let sourcePreconditions = try Preconditions(source: request.target)
        let preconditions = try Preconditions(request.target)
        let moved = try change(record) { (change) throws(APIError) in
            let object = try change.existing(source, generation: nil)
            try sourcePreconditions.check(object)
            let moved = try change.store(
                NewContent(of: object), as: destination, attributes: object.attributes, if: preconditions)
            try change.remove(object, keepingContent: true)
            return moved
        }
        return try resource(of: moved, request, bucket: bucket)
    }
}
