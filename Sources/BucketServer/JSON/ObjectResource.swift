/// Writes the API's object resource (PROTOCOL 4.2): unset fields are absent, 64-bit numbers are strings.
struct ObjectResource {
    let bucket: String
    /// `http://host:port`, for the links.
    let root: String
    private let fields: Fields

    init(bucket: String, root: String, mask: FieldMask) {
        self.bucket = bucket
        self.root = root
        fields = Fields(mask)
    }

    func write(_ object: ObjectRecord, to json: inout JSONWriter, key: String? = nil) {
        json.object(key) { json in
            writeIdentity(object, to: &json)
            writeContent(object, to: &json)
            writeTimes(object, to: &json)
            writeAttributes(object.attributes, to: &json)
        }
    }

    func document(_ object: ObjectRecord) -> [UInt8] {
        var json = JSONWriter()
        write(object, to: &json)
        return json.bytes
    }

    private func writeIdentity(_ object: ObjectRecord, to json: inout JSONWriter) {
        if fields.contains(.kind) { json.string("kind", "storage#object") }
        if fields.contains(.id) { json.string("id", "\(bucket)/\(object.name)/\(object.generation)") }
        if fields.contains(.selfLink) { json.string("selfLink", link(object, "/storage/v1", "")) }
        if fields.contains(.mediaLink) {
            json.string("mediaLink", link(object, "/download/storage/v1", "?generation=\(object.generation)&alt=media"))
        }
        if fields.contains(.name) { json.string("name", utf8: object.name.bytes) }
        if fields.contains(.bucket) { json.string("bucket", bucket) }
        if fields.contains(.generation) { json.quotedNumber("generation", object.generation) }
        if fields.contains(.metageneration) { json.quotedNumber("metageneration", object.metageneration) }
    }

    private func writeContent(_ object: ObjectRecord, to json: inout JSONWriter) {
        if fields.contains(.size) { json.quotedNumber("size", object.size) }
        if fields.contains(.md5Hash), let md5 = object.checksums.md5 { json.string("md5Hash", utf8: base64(md5)) }
        if fields.contains(.crc32c) { json.string("crc32c", utf8: base64(crc32c: object.checksums.crc32c)) }
        if fields.contains(.etag) { json.string("etag", utf8: object.etag) }
        if fields.contains(.componentCount), let count = object.componentCount { json.number("componentCount", count) }
    }

    private func writeTimes(_ object: ObjectRecord, to json: inout JSONWriter) {
        if fields.contains(.timeCreated) { json.string("timeCreated", utf8: rfc3339(object.created)) }
        if fields.contains(.updated) { json.string("updated", utf8: rfc3339(object.updated)) }
        if fields.contains(.timeStorageClassUpdated) {
            json.string("timeStorageClassUpdated", utf8: rfc3339(object.created))
        }
        if fields.contains(.timeFinalized) { json.string("timeFinalized", utf8: rfc3339(object.created)) }
    }

    private func writeAttributes(_ attributes: ObjectAttributes, to json: inout JSONWriter) {
        func write(_ key: String, _ field: Fields, _ value: String?) {
            if fields.contains(field), let value { json.string(key, value) }
        }
        write("contentType", .contentType, attributes.contentType)
        write("contentEncoding", .contentEncoding, attributes.contentEncoding)
        write("contentDisposition", .contentDisposition, attributes.contentDisposition)
        write("contentLanguage", .contentLanguage, attributes.contentLanguage)
        write("cacheControl", .cacheControl, attributes.cacheControl)
        write("storageClass", .storageClass, attributes.storageClass)
        write("customTime", .customTime, attributes.customTime)
        if fields.contains(.metadata), let metadata = attributes.metadata { json.raw("metadata", metadata) }
    }

    private func link(_ object: ObjectRecord, _ base: String, _ query: String) -> String {
        let name = String(decoding: percentEncoded(object.name.bytes), as: UTF8.self)
        return "\(root)\(base)/b/\(bucket)/o/\(name)\(query)"
    }
}

/// The members of the resource that are wanted, found once per answer.
private struct Fields: OptionSet {
    let rawValue: UInt32

    static let names: [(String, Fields)] = [
        ("kind", .kind), ("id", .id), ("selfLink", .selfLink), ("mediaLink", .mediaLink), ("name", .name),
        ("bucket", .bucket), ("generation", .generation), ("metageneration", .metageneration), ("size", .size),
        ("md5Hash", .md5Hash), ("crc32c", .crc32c), ("etag", .etag), ("componentCount", .componentCount),
        ("timeCreated", .timeCreated), ("updated", .updated), ("timeStorageClassUpdated", .timeStorageClassUpdated),
        ("timeFinalized", .timeFinalized), ("contentType", .contentType), ("contentEncoding", .contentEncoding),
        ("contentDisposition", .contentDisposition), ("contentLanguage", .contentLanguage),
        ("cacheControl", .cacheControl), ("storageClass", .storageClass), ("customTime", .customTime),
        ("metadata", .metadata),
    ]

    static let kind = Fields(rawValue: 1 << 0)
    static let id = Fields(rawValue: 1 << 1)
    static let selfLink = Fields(rawValue: 1 << 2)
    static let mediaLink = Fields(rawValue: 1 << 3)
    static let name = Fields(rawValue: 1 << 4)
    static let bucket = Fields(rawValue: 1 << 5)
    static let generation = Fields(rawValue: 1 << 6)
    static let metageneration = Fields(rawValue: 1 << 7)
    static let size = Fields(rawValue: 1 << 8)
    static let md5Hash = Fields(rawValue: 1 << 9)
    static let crc32c = Fields(rawValue: 1 << 10)
    static let etag = Fields(rawValue: 1 << 11)
    static let componentCount = Fields(rawValue: 1 << 12)
    static let timeCreated = Fields(rawValue: 1 << 13)
    static let updated = Fields(rawValue: 1 << 14)
    static let timeStorageClassUpdated = Fields(rawValue: 1 << 15)
    static let timeFinalized = Fields(rawValue: 1 << 16)
    static let contentType = Fields(rawValue: 1 << 17)
    static let contentEncoding = Fields(rawValue: 1 << 18)
    static let contentDisposition = Fields(rawValue: 1 << 19)
    static let contentLanguage = Fields(rawValue: 1 << 20)
    static let cacheControl = Fields(rawValue: 1 << 21)
    static let storageClass = Fields(rawValue: 1 << 22)
    static let customTime = Fields(rawValue: 1 << 23)
    static let metadata = Fields(rawValue: 1 << 24)
    static let all = Fields(rawValue: (1 << 25) - 1)

    init(rawValue: UInt32) { self.rawValue = rawValue }

    init(_ mask: FieldMask) {
        self =
            switch mask {
            case .everything: .all
            case .only: Fields(Self.names.filter { mask.wants($0.0) }.map(\.1))
            }
    }
}

extension ObjectRecord {
    /// Changes with the content and with the metadata: base64 of both generations as the tagged numbers 1 and 2 of a
    /// protocol buffer, which is what the service's own etags look like.
    var etag: [UInt8] {
        var bytes: [UInt8] = [0x08]
        append(varint: generation, to: &bytes)
        bytes.append(0x10)
        append(varint: metageneration, to: &bytes)
        return base64(bytes)
    }

    private func append(varint value: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: value)
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
