import ObjectStore

extension Upload {
    /// How `object` differs from what this upload sends; nil: not at all, as far as the server says.
    func difference(from object: ObjectMetadata) -> String? {
        if object.name != name { return "its name is \(object.name)" }
        if object.size != source.size { return "\(object.size) bytes instead of \(source.size)" }
        if let crc32c = object.crc32c, crc32c != source.crc32c {
            return "CRC32C \(crc32c.checksumText) instead of \(source.crc32c.checksumText)"
        }
        return nil
    }

    /// Whether `object`, found after this upload failed, is what it has stored: nothing else can have made it.
    func canHaveMade(_ object: ObjectMetadata) -> Bool {
        precondition.allowsResult(object.objectGeneration) && object.crc32c == source.crc32c
            && difference(from: object) == nil && object.headers.include(headers)
    }
}
