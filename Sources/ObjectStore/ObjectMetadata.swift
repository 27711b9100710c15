/// What a bucket knows of one object generation (PROTOCOL: object resource).
package struct ObjectMetadata: Sendable, Equatable {
    package var name: ObjectName
    package var objectGeneration: ObjectGeneration
    package var metageneration: Metageneration
    /// Stored bytes (of a gzip-encoded object: the compressed ones).
    package var size: Int64
    package var timeCreated: Timestamp
    package var updated: Timestamp
    /// nil where the bucket has none: composed objects have no MD5.
    package var crc32c: UInt32?
    package var md5: [UInt8]?
    package var etag: String?
    package var storageClass: String?
    package var componentCount: Int?
    package var headers: ObjectHeaders

    package init(
        name: ObjectName, objectGeneration: ObjectGeneration, metageneration: Metageneration, size: Int64,
        timeCreated: Timestamp, updated: Timestamp, crc32c: UInt32? = nil, md5: [UInt8]? = nil, etag: String? = nil,
        storageClass: String? = nil, componentCount: Int? = nil, headers: ObjectHeaders = ObjectHeaders()
    ) {
        self.name = name
        self.objectGeneration = objectGeneration
        self.metageneration = metageneration
        self.size = size
        self.timeCreated = timeCreated
        self.updated = updated
        self.crc32c = crc32c
        self.md5 = md5
        self.etag = etag
        self.storageClass = storageClass
        self.componentCount = componentCount
        self.headers = headers
    }
}

/// The part of an object's metadata that a client sets. nil: not set.
package struct ObjectHeaders: Sendable, Equatable {
    package var contentType: String?
    package var contentEncoding: String?
    package var contentDisposition: String?
    package var contentLanguage: String?
    package var cacheControl: String?
    /// Custom metadata, bookkeeping keys included.
    package var custom: [String: String]

    package init(
        contentType: String? = nil, contentEncoding: String? = nil, contentDisposition: String? = nil,
        contentLanguage: String? = nil, cacheControl: String? = nil, custom: [String: String] = [:]
    ) {
        self.contentType = contentType
        self.contentEncoding = contentEncoding
        self.contentDisposition = contentDisposition
        self.contentLanguage = contentLanguage
        self.cacheControl = cacheControl
        self.custom = custom
    }
}

extension ObjectHeaders {
    /// The key of custom metadata under which download tokens are kept, whatever protocol is spoken.
    package static let downloadTokensKey = "firebaseStorageDownloadTokens"

    /// Secrets that open the object to everyone who has one, separated by commas.
    package var downloadTokens: String? {
        get { custom[Self.downloadTokensKey] }
        set { custom[Self.downloadTokensKey] = newValue }
    }
}

/// A change of metadata alone (PROTOCOL: patch). A key that is not mentioned stays as it is.
package struct MetadataPatch: Sendable, Equatable {
    package enum Change: Sendable, Equatable { case set(String), remove }

    package var contentType: Change?
    package var contentEncoding: Change?
    package var contentDisposition: Change?
    package var contentLanguage: Change?
    package var cacheControl: Change?
    package var custom: [String: Change]

    package init(custom: [String: Change] = [:]) { self.custom = custom }

    package var isEmpty: Bool { self == MetadataPatch() }

    /// `newer` wins where both say something.
    package func merged(with newer: MetadataPatch) -> MetadataPatch {
        var merged = MetadataPatch(custom: custom.merging(newer.custom) { _, new in new })
        merged.contentType = newer.contentType ?? contentType
        merged.contentEncoding = newer.contentEncoding ?? contentEncoding
        merged.contentDisposition = newer.contentDisposition ?? contentDisposition
        merged.contentLanguage = newer.contentLanguage ?? contentLanguage
        merged.cacheControl = newer.cacheControl ?? cacheControl
        return merged
    }
}

extension ObjectHeaders {
    /// What a server makes of them when it takes `patch`.
    package mutating func apply(_ patch: MetadataPatch) {
        patch.contentType?.apply(to: &contentType)
        patch.contentEncoding?.apply(to: &contentEncoding)
        patch.contentDisposition?.apply(to: &contentDisposition)
        patch.contentLanguage?.apply(to: &contentLanguage)
        patch.cacheControl?.apply(to: &cacheControl)
        for (key, change) in patch.custom { change.apply(to: &custom[key]) }
    }
}

extension MetadataPatch.Change {
    fileprivate func apply(to value: inout String?) {
        switch self {
        case .set(let new): value = new
        case .remove: value = nil
        }
    }
}
