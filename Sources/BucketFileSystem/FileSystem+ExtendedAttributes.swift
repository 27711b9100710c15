import ObjectStore

/// What a bucket knows of an object beyond `stat`, under the names of DESIGN's table. Read only in this version.
extension FileSystem {
    package func extendedAttribute(_ name: [UInt8], of inode: InodeNumber) async throws(FileSystemError) -> [UInt8] {
        let metadata = try place(of: inode).record?.metadata
        guard let metadata, let value = metadata.extendedAttribute(String(decoding: name, as: UTF8.self)) else {
            throw .noSuchAttribute
        }
        return Array(value.utf8)
    }

    /// Custom metadata. The rest can be asked for by name; programs that copy attributes would try to set it, which
    /// this version cannot.
    package func extendedAttributeNames(of inode: InodeNumber) async throws(FileSystemError) -> [[UInt8]] {
        guard let headers = try place(of: inode).record?.metadata.headers else { return [] }
        return headers.visibleCustom.keys.sorted().map { Array("user.\($0)".utf8) }
    }
}

extension ObjectHeaders {
    /// Custom metadata without the keys that keep books for tools.
    fileprivate var visibleCustom: [String: String] {
        custom.filter { !PosixMetadata.Key.isBookkeeping($0.key) }
    }
}

extension ObjectMetadata {
    fileprivate func extendedAttribute(_ name: String) -> String? {
        switch name {
        case "user.mime_type": return headers.contentType
        case "user.storage.cache_control": return headers.cacheControl
        case "user.storage.content_disposition": return headers.contentDisposition
        case "user.storage.content_encoding": return headers.contentEncoding
        case "user.storage.content_language": return headers.contentLanguage
        case "user.storage.generation": return objectGeneration.description
        case "user.storage.metageneration": return metageneration.description
        case "user.storage.md5": return md5.map(Self.hexadecimal)
        case "user.storage.crc32c":
            return crc32c.map { crc in Self.hexadecimal((0..<4).map { UInt8(truncatingIfNeeded: crc >> (24 - 8 * $0)) })
            }
        case "user.storage.etag": return etag
        case "user.storage.storage_class": return storageClass
        case "user.storage.time_created": return timeCreated.rfc3339()
        case "user.storage.updated": return updated.rfc3339()
        default:
            guard name.hasPrefix("user.") else { return nil }
            return headers.visibleCustom[String(name.dropFirst("user.".count))]
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
