import ObjectStore

/// An upload whose metadata and bytes travel in one request (PROTOCOL 4.5, 1.10).
extension Call {
    /// - Parameter json: the object's metadata.
    /// - Returns: the body, which knows how far it was read.
    mutating func setMultipart(_ upload: Upload, _ json: JSONObject, clock: RetryClock) -> UploadBody {
        let boundary = Self.boundary()
        // The media part's type must not contradict the JSON's (PROTOCOL 4.5).
        let type = upload.headers.contentType ?? "application/octet-stream"
        var head = Array("--\(boundary)\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".utf8)
        head += json.bytes
        head += Array("\r\n--\(boundary)\r\nContent-Type: \(HeaderText.clean(type))\r\n\r\n".utf8)
        let parts = UploadBody(
            upload, 0..<upload.source.size, head: head, tail: Array("\r\n--\(boundary)--\r\n".utf8), clock: clock)
        headers.append(("Content-Type", "multipart/related; boundary=\(boundary)"))
        body = parts.body
        self.upload = parts
        return parts
    }

    /// 128 random bits: they will not occur in what is uploaded.
    private static func boundary() -> String {
        let halves = [UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)]
        return "firemount" + halves.map { String($0, radix: 36) }.joined()
    }
}

enum HeaderText {
    /// Printable ASCII, so that it arrives as it is.
    static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// A header's value must not end its line.
    static func clean(_ value: String) -> String {
        String(value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.map(Character.init))
    }
}
