/// Reads writable metadata out of request bodies. Read-only and unknown members are ignored, null or not.
extension ObjectAttributes {
    /// The attributes of a new object: what is not said, or null, is unset.
    init(document: [String: JSONValue]) {
        self.init()
        merge(document)
    }

    /// A merge patch (PROTOCOL 4.6): absent keeps, null removes, `metadata` is merged key by key.
    mutating func merge(_ document: [String: JSONValue]) {
        merge(document["contentType"], into: &contentType)
        merge(document["contentEncoding"], into: &contentEncoding)
        merge(document["contentDisposition"], into: &contentDisposition)
        merge(document["contentLanguage"], into: &contentLanguage)
        merge(document["cacheControl"], into: &cacheControl)
        merge(document["customTime"], into: &customTime)
        if let value = document["storageClass"]?.text, !value.isEmpty { storageClass = value }
        switch document["metadata"] {
        case .object(let members): mergeMetadata(members)
        case .null: metadata = nil
        default: break
        }
    }

    /// Sets custom metadata, one entry after another.
    mutating func setMetadata(_ entries: [(name: String, value: String)]) {
        guard !entries.isEmpty else { return }
        mergeMetadata(Dictionary(entries.map { ($0.name, .string($0.value)) }) { $1 })
    }

    private func merge(_ value: JSONValue?, into attribute: inout String?) {
        guard let value else { return }
        attribute = value.text
    }

    private mutating func mergeMetadata(_ changes: [String: JSONValue]) {
        // What is stored was written below: an object of strings.
        var entries = metadata.flatMap { try? JSONValue.parse($0).members } ?? [:]
        for (key, value) in changes { entries[key] = value.text.map { .string($0) } }
        metadata = entries.isEmpty ? nil : Self.text(of: entries)
    }

    private static func text(of entries: [String: JSONValue]) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
                json.key(key)
                json.string(nil, value.text ?? "")
            }
        }
        return json.bytes
    }
}
