import ObjectStore

/// Rules of an object's own key-value pairs.
enum CustomMetadata {
    /// Where the service keeps the secrets of download links. It is nobody's own key; `downloadURL()` reads it.
    static let downloadTokens = "firebaseStorageDownloadTokens"

    /// What has to change to get from one map to the other. No map is an empty map.
    static func difference(
        from old: [String: String]?, to new: [String: String]?
    ) -> [String: MetadataPatch.Change] {
        let (old, new) = (old ?? [:], new ?? [:])
        var changes: [String: MetadataPatch.Change] = [:]
        for key in old.keys where new[key] == nil { changes[key] = .remove }
        for (key, value) in new where !hasSameBytes(old[key], value) { changes[key] = .set(value) }
        return changes
    }
}
