import Foundation
import ObjectStore

/// Metadata as the dictionary that the service's JSON makes.
extension StorageMetadata {
    /// Reads the keys that `dictionaryRepresentation()` writes; others are left alone. Numbers may be numbers or
    /// decimal text, times RFC 3339 text with up to nine decimals or a `Date`.
    public convenience init(dictionary: [String: AnyHashable]) {
        func text(_ key: String) -> String? { dictionary[key]?.base as? String }
        func number(_ key: String) -> Int64 {
            switch dictionary[key]?.base {
            case let text as String: Int64(text) ?? 0
            case let number as any BinaryInteger: Int64(clamping: number)
            case let number as NSNumber: number.int64Value
            default: 0
            }
        }
        func time(_ key: String) -> Date? {
            (dictionary[key]?.base as? Date) ?? text(key).flatMap { Timestamp(rfc3339: $0) }.map { Date($0) }
        }
        var fields = Fields()
        fields.bucket = text("bucket") ?? ""
        fields.path = text("name").map { ObjectName($0) }
        fields.md5Hash = text("md5Hash")
        fields.objectGeneration = number("generation")
        fields.metageneration = number("metageneration")
        fields.size = number("size")
        fields.timeCreated = time("timeCreated")
        fields.updated = time("updated")
        fields.cacheControl = text("cacheControl")
        fields.contentDisposition = text("contentDisposition")
        fields.contentEncoding = text("contentEncoding")
        fields.contentLanguage = text("contentLanguage")
        fields.contentType = text("contentType")
        fields.custom = dictionary["metadata"]?.base as? [String: String]
        self.init(fields, initial: fields)
    }

    /// The values that are set. `name` is the full name; numbers that are 0 are left out.
    public func dictionaryRepresentation() -> [String: AnyHashable] {
        let fields = fields
        var dictionary: [String: AnyHashable] = ["bucket": fields.bucket]
        let texts = [
            "name": fields.path?.description, "md5Hash": fields.md5Hash, "cacheControl": fields.cacheControl,
            "contentDisposition": fields.contentDisposition, "contentEncoding": fields.contentEncoding,
            "contentLanguage": fields.contentLanguage, "contentType": fields.contentType,
            "timeCreated": fields.timeCreated.map { Timestamp($0).rfc3339(.milliseconds) },
            "updated": fields.updated.map { Timestamp($0).rfc3339(.milliseconds) },
        ]
        for case (let key, let text?) in texts { dictionary[key] = text }
        let numbers = [
            "generation": fields.objectGeneration, "metageneration": fields.metageneration, "size": fields.size,
        ]
        for (key, number) in numbers where number != 0 { dictionary[key] = number }
        if let custom = fields.custom { dictionary["metadata"] = custom }
        return dictionary
    }
}
