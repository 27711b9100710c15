import Foundation
import ObjectStore

/// Between the public metadata and what stores speak of.
extension StorageMetadata {
    /// Metadata that came from the service.
    convenience init(_ object: ObjectMetadata, bucket: String) {
        let fields = Fields(object, bucket: bucket)
        self.init(fields, initial: fields)
    }

    /// What an update has to send: the differences from what the service said.
    var patch: MetadataPatch {
        let (old, new) = (initial, fields)
        func change(_ text: KeyPath<Fields, String?>) -> MetadataPatch.Change? {
            guard !hasSameBytes(old[keyPath: text], new[keyPath: text]) else { return nil }
            return new[keyPath: text].map { .set($0) } ?? .remove
        }
        var patch = MetadataPatch(custom: CustomMetadata.difference(from: old.custom, to: new.custom))
        patch.contentType = change(\.contentType)
        patch.contentEncoding = change(\.contentEncoding)
        patch.contentDisposition = change(\.contentDisposition)
        patch.contentLanguage = change(\.contentLanguage)
        patch.cacheControl = change(\.cacheControl)
        return patch
    }

    /// What an upload sets.
    var headers: ObjectHeaders {
        let fields = fields
        return ObjectHeaders(
            contentType: fields.contentType, contentEncoding: fields.contentEncoding,
            contentDisposition: fields.contentDisposition, contentLanguage: fields.contentLanguage,
            cacheControl: fields.cacheControl, custom: fields.custom ?? [:])
    }

    /// What is uploaded to `path`: a copy, so that the caller's own stays as it is.
    func prepared(for path: StoragePath, inferredType: String) -> StorageMetadata {
        var fields = fields
        fields.bucket = path.bucket
        fields.path = path.object
        fields.contentType = fields.contentType ?? inferredType
        return StorageMetadata(fields)
    }
}

extension StorageMetadata.Fields {
    init(_ object: ObjectMetadata, bucket: String) {
        self.bucket = bucket
        path = object.name
        md5Hash = object.md5.map { Data($0).base64EncodedString() }
        objectGeneration = object.objectGeneration.rawValue
        metageneration = object.metageneration.rawValue
        size = object.size
        timeCreated = Date(object.timeCreated)
        updated = Date(object.updated)
        cacheControl = object.headers.cacheControl
        contentDisposition = object.headers.contentDisposition
        // The service's word for "none", which stores leave out (PROTOCOL 1.4).
        contentEncoding = object.headers.contentEncoding ?? "identity"
        contentLanguage = object.headers.contentLanguage
        contentType = object.headers.contentType
        let custom = object.headers.custom.filter { $0.key != CustomMetadata.downloadTokens }
        self.custom = custom.isEmpty ? nil : custom
        isFile = true
    }
}

extension Date {
    init(_ moment: Timestamp) {
        self.init(timeIntervalSince1970: Double(moment.seconds) + Double(moment.nanoseconds) / 1e9)
    }
}

extension Timestamp {
    /// To the microsecond, which is what a `Date` can hold.
    init(_ date: Date) {
        let microseconds = Int64((date.timeIntervalSince1970 * 1e6).rounded())
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        self.init(
            seconds: rest < 0 ? seconds - 1 : seconds, nanoseconds: Int32((rest < 0 ? rest + 1_000_000 : rest) * 1_000))
    }
}
