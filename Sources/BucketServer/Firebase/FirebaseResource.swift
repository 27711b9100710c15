/// Writes Firebase's object resource (PROTOCOL 1.4): every scalar is a string.
struct FirebaseResource {
    let bucket: String

    func document(_ object: ObjectRecord) -> [UInt8] {
        let attributes = object.attributes
        var json = JSONWriter()
        json.object { json in
            json.string("name", utf8: object.name.bytes)
            json.string("bucket", bucket)
            json.quotedNumber("generation", object.generation)
            json.quotedNumber("metageneration", object.metageneration)
            json.string("contentType", attributes.contentType ?? "application/octet-stream")
            json.string("timeCreated", utf8: rfc3339(object.created))
            json.string("updated", utf8: rfc3339(object.updated))
            json.string("storageClass", attributes.storageClass)
            json.quotedNumber("size", object.size)
            if let md5 = object.checksums.md5 { json.string("md5Hash", utf8: base64(md5)) }
            json.string("contentEncoding", attributes.contentEncoding ?? "identity")
            if let value = attributes.contentDisposition { json.string("contentDisposition", value) }
            if let value = attributes.contentLanguage { json.string("contentLanguage", value) }
            if let value = attributes.cacheControl { json.string("cacheControl", value) }
            json.string("crc32c", utf8: base64(crc32c: object.checksums.crc32c))
            json.string("etag", utf8: object.etag)
            json.string("downloadTokens", attributes.downloadTokens.joined(separator: ","))
            if let metadata = attributes.shownMetadata { json.raw("metadata", metadata) }
        }
        return json.bytes
    }

    func answer(_ object: ObjectRecord) -> Response { Response(json: document(object)) }
}

extension RulesValue {
    /// An object as rules see it, in `resource` and `request.resource` (PROTOCOL 5.2).
    init(_ object: ObjectRecord, in bucket: String) {
        let attributes = object.attributes
        var map: [String: RulesValue] = [
            "name": .string(object.name.description),
            "bucket": .string(bucket),
            "generation": .integer(object.generation),
            "metageneration": .integer(object.metageneration),
            "size": .integer(object.size),
            "timeCreated": .timestamp(object.created),
            "updated": .timestamp(object.updated),
            "crc32c": .string(String(decoding: base64(crc32c: object.checksums.crc32c), as: UTF8.self)),
            "etag": .string(String(decoding: object.etag, as: UTF8.self)),
            "contentType": .string(attributes.contentType ?? "application/octet-stream"),
            "contentEncoding": .string(attributes.contentEncoding ?? "identity"),
        ]
        map["md5Hash"] = object.checksums.md5.map { .string(String(decoding: base64($0), as: UTF8.self)) }
        map["contentDisposition"] = attributes.contentDisposition.map { .string($0) }
        map["contentLanguage"] = attributes.contentLanguage.map { .string($0) }
        map["cacheControl"] = attributes.cacheControl.map { .string($0) }
        var entries = attributes.entries
        entries[ObjectAttributes.downloadTokensKey] = nil
        map["metadata"] = .map(entries.mapValues(RulesValue.init))
        self = .map(map)
    }
}
