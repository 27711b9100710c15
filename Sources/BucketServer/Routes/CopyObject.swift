/// `POST /b/{SB}/o/{SO}/copyTo/b/{DB}/o/{DO}`.
extension Service {
    func copyObject(_ request: Request, from source: CopyEnd, to destination: CopyEnd, _ body: [UInt8])
        throws(APIError) -> Response
    {
        let copy = try Copy(request, self, from: source, to: destination, body)
        let object = try change(copy.destinationBucket) { (change) throws(APIError) in
            try copy.run(change, try copy.sourceObject(change))
        }
        return try resource(of: object, request, bucket: destination.bucket)
    }
}

/// One end of a copy.
struct CopyEnd {
    let bucket: String
    let name: ObjectName
}

/// What copy and rewrite have in common: a source under conditions, and what the destination is to be.
struct Copy {
    let destinationBucket: BucketRecord
    private let service: Service
    private let sourceBucket: BucketRecord
    private let source: ObjectName
    private let destination: ObjectName
    private let sourceGeneration: Int64?
    private let sourcePreconditions: Preconditions
    private let preconditions: Preconditions
    private let document: [String: JSONValue]

    init(_ request: Request, _ service: Service, from source: CopyEnd, to destination: CopyEnd, _ body: [UInt8])
        throws(APIError)
    {
        self.service = service
        sourceBucket = try service.index.bucket(source.bucket)
        destinationBucket = try service.index.bucket(destination.bucket)
        self.source = source.name
        self.destination = destination.name
        sourceGeneration = try request.target.number("sourceGeneration")
        sourcePreconditions = try Preconditions(source: request.target)
        preconditions = try Preconditions(request.target)
        document = try JSONValue.parseObject(body)
    }

    func sourceObject(_ change: ObjectTransaction) throws(APIError) -> ObjectRecord {
        let object = try change.database.object(source, in: sourceBucket)
        guard let object, sourceGeneration == nil || sourceGeneration == object.generation else {
            throw .noSuchObject(sourceBucket.name, source)
        }
        try sourcePreconditions.check(object)
        return object
    }

    /// Gives the destination the source's bytes. The source is live here, so that its file is there to be linked.
    func run(_ change: ObjectTransaction, _ object: ObjectRecord) throws(APIError) -> ObjectRecord {
        try preconditions.check(try change.object(destination))
        var content = NewContent(of: object)
        content.id = try service.files.link(object.content)
        return try change.store(content, as: destination, attributes: attributes(object), if: preconditions)
    }

    /// Metadata in the body takes the place of the source's; without any, the source's is kept.
    private func attributes(_ object: ObjectRecord) -> ObjectAttributes {
        let given = ObjectAttributes(document: document)
        guard given != ObjectAttributes() else { return object.attributes }
        var attributes = given
        attributes.contentType = attributes.contentType ?? object.attributes.contentType
        return attributes
    }
}
