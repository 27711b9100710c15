/// `POST /b/{B}/o/{DO}/compose`: makes an object of others, end to end.
extension Service {
    private static let mostSources = 32

    func composeObjects(
        _ request: Request, bucket: String, _ name: ObjectName, _ body: [UInt8]
    ) throws(APIError) -> Response {
        let record = try index.bucket(bucket)
        let document = try JSONValue.parseObject(body)
        let sources = try (document["sourceObjects"]?.elements ?? []).map { (element) throws(APIError) in
            try ComposeSource(element.members ?? [:])
        }
        guard !sources.isEmpty else { throw .required("sourceObjects") }
        guard sources.count <= Self.mostSources else {
            throw .invalid("The number of source components provided (\(sources.count)) exceeds the maximum (32).")
        }
        let preconditions = try Preconditions(request)
        try preconditions.check(try index.object(name, in: record))
        let parts = try sources.map { (source) throws(APIError) in try part(source, in: record) }
        let content = try concatenate(parts, into: name)
        // Nothing is inherited from the sources: the caller says what the result is.
        let attributes = ObjectAttributes(document: document["destination"]?.members ?? [:])
        let composed = try change(record, adding: content.id) { (change) throws(APIError) in
            try change.store(content, as: name, attributes: attributes, if: preconditions)
        }
        return try resource(of: composed, request, bucket: bucket)
    }

    private func part(_ source: ComposeSource, in bucket: BucketRecord) throws(APIError) -> ComposePart {
        for _ in 0..<100 {
            let found = try index.object(source.name, in: bucket)
            guard let object = found, source.generation == nil || source.generation == object.generation else {
                throw .noSuchObject(bucket.name, source.name)
            }
            try source.preconditions.check(object)
            if let file = files.open(object.content) { return ComposePart(object: object, file: file) }
        }
        throw .backend("The bytes of \(bucket.name)/\(source.name) are missing.")
    }

    /// A composed object has no MD5, as in the service. An object that is appended to costs only what is appended.
    private func concatenate(_ parts: [ComposePart], into name: ObjectName) throws(APIError) -> NewContent {
        var rest = parts[...]
        var staged: StagedContent?
        if let first = rest.first, first.object.name == name {
            staged = try files.stage(continuing: NewContent(of: first.object))
            if staged != nil { rest.removeFirst() }
        }
        let whole = if let staged { staged } else { try files.stage(computesMD5: false) }
        for part in rest { try append(part, to: whole) }
        let size = whole.size
        let checksums = whole.checksumsSoFar()
        return NewContent(
            id: try files.publish(whole), size: size, checksums: checksums,
            componentCount: parts.reduce(0) { $0 + ($1.object.componentCount ?? 1) })
    }

    private func append(_ part: ComposePart, to staged: StagedContent) throws(APIError) {
        let step: Int64 = 1 << 20
        var offset: Int64 = 0
        while offset < part.object.size {
            let piece = part.file.bytes(at: offset, count: Int(min(step, part.object.size - offset)))
            guard !piece.isEmpty else { throw .backend("The bytes of \(part.object.name) end early.") }
            try staged.append(piece[...])
            offset += Int64(piece.count)
        }
    }
}

private struct ComposeSource {
    let name: ObjectName
    let generation: Int64?
    var preconditions = Preconditions.none

    init(_ document: [String: JSONValue]) throws(APIError) {
        guard let name = document["name"]?.text else { throw .required("sourceObjects.name") }
        self.name = try ObjectName(validating: name)
        generation = document["generation"]?.text.flatMap { Int64($0) }
        preconditions.generationMatch = document["objectPreconditions"]?.members?["ifGenerationMatch"]?.text
            .flatMap { Int64($0) }
    }
}

private struct ComposePart {
    let object: ObjectRecord
    let file: OpenFile
}
