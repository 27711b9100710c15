/// One page of a list, or all of it.
public final class StorageListResult: Sendable {
    /// The "folders": references whose names other objects go on from, after a `/`.
    public let prefixes: [StorageReference]
    public let items: [StorageReference]
    /// For the next page; nil: there is none.
    public let pageToken: String?

    init(prefixes: [StorageReference], items: [StorageReference], pageToken: String?) {
        self.prefixes = prefixes
        self.items = items
        self.pageToken = pageToken
    }

    public func copy() -> StorageListResult {
        StorageListResult(prefixes: prefixes, items: items, pageToken: pageToken)
    }
}
