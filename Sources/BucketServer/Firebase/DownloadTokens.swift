import FoundationEssentials

/// Download tokens: whoever knows one may read the object, whatever the rules say. They are kept as an entry of the
/// custom metadata, as the service keeps them, so that other clients carry them along; Firebase shows them apart.
extension ObjectAttributes {
    static let downloadTokensKey = "firebaseStorageDownloadTokens"

    var downloadTokens: [String] {
        get {
            let text = entries[Self.downloadTokensKey]?.text ?? ""
            return text.split(separator: ",").map(String.init)
        }
        set { setEntry(Self.downloadTokensKey, newValue.isEmpty ? nil : newValue.joined(separator: ",")) }
    }

    /// The custom metadata that Firebase shows; nil when there is none.
    var shownMetadata: [UInt8]? {
        var shown = self
        shown.downloadTokens = []
        return shown.metadata
    }

    /// Custom metadata as values.
    var entries: [String: JSONValue] { metadata.flatMap { try? JSONValue.parse($0).members } ?? [:] }

    mutating func addDownloadToken() { downloadTokens.append(UUID().uuidString.lowercased()) }

    private mutating func setEntry(_ key: String, _ value: String?) {
        merge(["metadata": .object([key: value.map { .string($0) } ?? .null])])
    }
}

/// What Firebase lets callers write (PROTOCOL 1.5).
extension ObjectAttributes {
    private static let writable = [
        "cacheControl", "contentDisposition", "contentEncoding", "contentLanguage", "contentType", "metadata",
    ]

    /// A merge patch. Tokens are only added by it: neither `null` nor a new list takes one away.
    mutating func mergeFirebase(_ document: [String: JSONValue]) {
        let known = downloadTokens
        merge(document.filter { Self.writable.contains($0.key) })
        if contentEncoding == "identity" { contentEncoding = nil }
        downloadTokens = known + downloadTokens.filter { !known.contains($0) }
    }
}
