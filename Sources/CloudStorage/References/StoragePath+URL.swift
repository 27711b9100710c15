import ObjectStore

/// The addresses that references are made from (docs/CLOUDSTORAGE.md, addresses). They are read as bytes: Foundation's
/// `URL` decodes `%2F` and drops doubled slashes.
extension StoragePath {
    /// - Throws: `pathError`.
    init(url: String) throws(StorageError) {
        let bytes = Array(url.utf8)
        guard let end = bytes.firstRange(of: Array("://".utf8)) else { throw Self.unknownScheme }
        let rest = bytes[end.upperBound...]
        switch String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased() {
        case "gs": try self.init(bucketAndName: rest, of: url)
        case "http", "https": try self.init(hostAndPath: rest, of: url)
        default: throw Self.unknownScheme
        }
    }

    /// `BUCKET[/NAME]`; nothing in it is escaped.
    private init(bucketAndName rest: ArraySlice<UInt8>, of url: String) throws(StorageError) {
        let bucket = rest.prefix { $0 != slash }
        guard !bucket.isEmpty else { throw Self.malformed(url) }
        self.init(
            bucket: String(decoding: bucket, as: UTF8.self),
            object: ObjectName(Self.normalized(rest.dropFirst(bucket.count))))
    }

    /// `HOST[:PORT]/v0/b/BUCKET[/o[/NAME]]`, escaped; a query or fragment says nothing of the object.
    private init(hostAndPath rest: ArraySlice<UInt8>, of url: String) throws(StorageError) {
        let address = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let host = address.prefix { $0 != slash }
        var segments = address.dropFirst(host.count + 1).split(separator: slash, omittingEmptySubsequences: false)[...]
        if segments.first.map({ $0.elementsEqual("v0".utf8) }) == true {
            segments = segments.dropFirst()
        } else if Self.isWholeBucketHost(host) {
            try self.init(escapedBucket: segments.first, name: segments.dropFirst(), of: url)
            return
        }
        guard segments.first.map({ $0.elementsEqual("b".utf8) }) == true else { throw Self.malformed(url) }
        let bucket = segments.dropFirst().first
        let objects = segments.dropFirst(2)
        guard let kind = objects.first else {
            try self.init(escapedBucket: bucket, name: [], of: url)
            return
        }
        guard kind.elementsEqual("o".utf8) else { throw Self.malformed(url) }
        try self.init(escapedBucket: bucket, name: objects.dropFirst(), of: url)
    }

    private init(
        escapedBucket: ArraySlice<UInt8>?, name: ArraySlice<ArraySlice<UInt8>>, of url: String
    ) throws(StorageError) {
        guard let escapedBucket, let bucket = Self.unescaped(escapedBucket), !bucket.isEmpty,
            let name = Self.unescaped(ArraySlice(name.joined(separator: [slash])))
        else { throw Self.malformed(url) }
        self.init(bucket: String(decoding: bucket, as: UTF8.self), object: ObjectName(name))
    }

    /// Hosts of plain Cloud Storage, whose addresses are `/BUCKET/NAME`.
    private static func isWholeBucketHost(_ host: ArraySlice<UInt8>) -> Bool {
        let name = host.prefix { $0 != UInt8(ascii: ":") }
        return ["storage.googleapis.com", "storage.cloud.google.com"].contains { name.elementsEqual($0.utf8) }
    }

    /// nil when an escape is malformed or the result is no UTF-8.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self) == nil ? nil : bytes
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        Character(Unicode.Scalar(digit)).hexDigitValue.map { UInt8($0) }
    }

    private static let unknownScheme = StorageError.pathError(
        message: "Internal error: URL scheme must be one of gs://, http://, or https://")

    private static func malformed(_ url: String) -> StorageError {
        .pathError(message: "\(url) names no bucket and object of Cloud Storage")
    }
}
