/// What the index knows of a live object.
struct ObjectRecord: Sendable {
    var name: ObjectName
    var generation: Int64
    var metageneration: Int64
    var size: Int64
    var checksums: Checksums
    /// How many pieces a composed object was made of; nil for others.
    var componentCount: Int64?
    var content: ContentID
    var created: Microseconds
    var updated: Microseconds
    var attributes: ObjectAttributes
}

/// An object's metadata that callers write.
struct ObjectAttributes: Sendable, Equatable, Codable {
    var contentType: String?
    var contentEncoding: String?
    var contentDisposition: String?
    var contentLanguage: String?
    var cacheControl: String?
    var storageClass = "STANDARD"
    var customTime: String?
    /// Custom metadata as the text of a JSON object of strings; nil when there is none.
    var metadata: [UInt8]?
}

/// Content that is about to become an object's.
struct NewContent: Sendable {
    var id: ContentID
    var size: Int64
    var checksums: Checksums
    var componentCount: Int64?
}

extension NewContent {
    /// The content of an object that there is.
    init(of object: ObjectRecord) {
        self.init(
            id: object.content, size: object.size, checksums: object.checksums, componentCount: object.componentCount)
    }
}

struct BucketRecord: Sendable {
    var id: Int64
    var name: String
    var created: Microseconds
    var isHierarchical: Bool
    var project: String
}
