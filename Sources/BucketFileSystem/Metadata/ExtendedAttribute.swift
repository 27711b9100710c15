import ObjectStore

/// What the name of an extended attribute stands for.
enum ExtendedAttribute: Equatable {
    case header(Header)
    case fact(Fact)
    /// Custom metadata of the user's.
    case custom(String)
    /// Custom metadata that keeps books for tools: hidden.
    case bookkeeping
    /// What commands to the mount are written to.
    case control
    /// What the mount says of itself.
    case status
    /// Reading it commands uploads, as a line to `control` does: `user.storage.pause`, `user.storage.cancel.12`.
    case transfers(TransferRegistry.Command, TransferID?)
    /// Reading it refreshes, as a line to `control` does.
    case refresh

    /// Headers of the object: read and write.
    enum Header: String, CaseIterable {
        case type = "user.mime_type"
        case cacheControl = "user.storage.cache_control"
        case contentDisposition = "user.storage.content_disposition"
        case contentEncoding = "user.storage.content_encoding"
        case contentLanguage = "user.storage.content_language"
    }

    /// What the bucket says of the object: read only, not listed.
    enum Fact: String, CaseIterable {
        case generation = "user.storage.generation"
        case metageneration = "user.storage.metageneration"
        case md5 = "user.storage.md5"
        case crc32c = "user.storage.crc32c"
        case etag = "user.storage.etag"
        case storageClass = "user.storage.storage_class"
        case timeCreated = "user.storage.time_created"
        case updated = "user.storage.updated"
        case downloadURL = "user.storage.download_url"
    }

    /// nil: no attribute can have that name here.
    init?(_ name: [UInt8]) {
        guard let name = String(validating: name, as: UTF8.self), name.hasPrefix(Self.prefix) else { return nil }
        if let header = Header(rawValue: name) {
            self = .header(header)
        } else if let fact = Fact(rawValue: name) {
            self = .fact(fact)
        } else if name == "user.storage.control" {
            self = .control
        } else if name == "user.storage.status" {
            self = .status
        } else if name == "user.storage.refresh" {
            self = .refresh
        } else if name.hasPrefix("user.storage.") {
            let words = name.dropFirst("user.storage.".count).split(separator: ".", omittingEmptySubsequences: false)
            guard words.count <= 2, let command = TransferRegistry.Command(rawValue: String(words[0])) else {
                return nil
            }
            let id = words.count == 2 ? UInt64(words[1]) : nil
            guard words.count == 1 || id != nil else { return nil }
            self = .transfers(command, id.map(TransferID.init(rawValue:)))
        } else {
            let key = String(name.dropFirst(Self.prefix.count))
            guard !key.isEmpty else { return nil }
            self = PosixMetadata.Key.isBookkeeping(key) ? .bookkeeping : .custom(key)
        }
    }

    private static let prefix = "user."

    static func name(ofCustom key: String) -> [UInt8] { Array("\(prefix)\(key)".utf8) }
}

extension ExtendedAttribute.Header {
    /// nil: not set. Some servers say so with an empty string.
    func value(in headers: ObjectHeaders) -> String? {
        let value =
            switch self {
            case .type: headers.contentType
            case .cacheControl: headers.cacheControl
            case .contentDisposition: headers.contentDisposition
            case .contentEncoding: headers.contentEncoding
            case .contentLanguage: headers.contentLanguage
            }
        return value?.isEmpty == true ? nil : value
    }

    func patch(_ change: MetadataPatch.Change) -> MetadataPatch {
        var patch = MetadataPatch()
        switch self {
        case .type: patch.contentType = change
        case .cacheControl: patch.cacheControl = change
        case .contentDisposition: patch.contentDisposition = change
        case .contentEncoding: patch.contentEncoding = change
        case .contentLanguage: patch.contentLanguage = change
        }
        return patch
    }
}

extension ExtendedAttribute.Fact {
    /// nil: the bucket does not say. A download URL is the store's to say.
    func value(of object: ObjectMetadata) -> String? {
        switch self {
        case .generation: object.objectGeneration.description
        case .metageneration: object.metageneration.description
        case .md5: object.md5.map(Self.hexadecimal)
        case .crc32c:
            object.crc32c.map { crc in
                Self.hexadecimal((0..<4).map { UInt8(truncatingIfNeeded: crc >> (24 - 8 * $0)) })
            }
        case .etag: object.etag
        case .storageClass: object.storageClass
        case .timeCreated: object.timeCreated.rfc3339()
        case .updated: object.updated.rfc3339()
        case .downloadURL: nil
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}

extension ObjectHeaders {
    /// Custom metadata without the keys that keep books for tools.
    var visibleCustom: [String: String] { custom.filter { !PosixMetadata.Key.isBookkeeping($0.key) } }

    /// Keys and values of all custom metadata, in bytes.
    var customSize: Int { custom.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } }
}
