/// What an upload is to become, fixed when it starts.
struct UploadPlan: Sendable, Codable {
    let bucket: String
    let name: ObjectName
    var attributes: ObjectAttributes
    let preconditions: Preconditions
    var expected = ExpectedChecksums()
    /// Who uploads, for the rules; nil where rules do not count.
    var caller: Caller?

    /// - Parameter document: the metadata that came with the upload, if any.
    init(_ request: Request, bucket: String, document: [String: JSONValue] = [:]) throws(APIError) {
        let target = request.target
        let inDocument = document["name"]?.text
        if let inQuery = target["name"], let inDocument, Array(inQuery.utf8) != Array(inDocument.utf8) {
            throw .invalid("The object name in the query differs from the one in the metadata.")
        }
        guard let name = target["name"] ?? inDocument else { throw .required("name") }
        self.bucket = bucket
        self.name = try ObjectName(validating: name)
        attributes = ObjectAttributes(document: document)
        if let encoding = target["contentEncoding"] { attributes.contentEncoding = encoding }
        preconditions = try Preconditions(request)
        expected.crc32c = document["crc32c"]?.text
        expected.md5 = document["md5Hash"]?.text
        try expected.add(header: request.headers.all("x-goog-hash"))
    }
}

/// Checksums that the caller says the bytes have, in base64.
struct ExpectedChecksums: Sendable, Codable {
    var crc32c: String?
    var md5: String?

    /// Adds `x-goog-hash` lines: `crc32c=…,md5=…`.
    mutating func add(header lines: [String]) throws(APIError) {
        for item in lines.joined(separator: ",").split(separator: ",") {
            let pair = item.drop { $0 == " " }
            if pair.hasPrefix("crc32c=") {
                crc32c = String(pair.dropFirst(7))
            } else if pair.hasPrefix("md5=") {
                md5 = String(pair.dropFirst(4))
            } else {
                throw .invalidParameter("x-goog-hash", String(item))
            }
        }
    }

    /// - Throws: 400 when the bytes are not what was announced.
    func check(_ checksums: Checksums) throws(APIError) {
        try check(crc32c, base64(crc32c: checksums.crc32c), "CRC32C")
        if let digest = checksums.md5 { try check(md5, base64(digest), "MD5") }
    }

    private func check(_ expected: String?, _ found: [UInt8], _ kind: String) throws(APIError) {
        guard let expected, Array(expected.utf8) != found else { return }
        let found = String(decoding: found, as: UTF8.self)
        throw .invalid("Provided \(kind) \"\(expected)\" doesn't match calculated \(kind) \"\(found)\".")
    }
}

extension ObjectName: Codable {
    init(from decoder: any Decoder) throws {
        self.init(stored: Array(try decoder.singleValueContainer().decode(String.self).utf8))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
