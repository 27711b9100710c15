/// A question about names (PROTOCOL: list).
package struct ListQuery: Sendable {
    /// Only names that begin with these bytes; empty: all.
    package var prefix: ObjectName
    /// Names that have a `/` after the prefix are answered as folders, each once, instead of one by one. Where the
    /// service can, a collapsed folder's placeholder (an object whose name ends in that `/`) is an item as well.
    package var collapsesFolders: Bool
    /// At most this many items and folders together, 1...1000.
    package var pageSize: Int
    /// From the page before; nil: the first page.
    package var pageToken: String?

    package init(prefix: ObjectName, collapsesFolders: Bool, pageSize: Int = 1_000, pageToken: String? = nil) {
        self.prefix = prefix
        self.collapsesFolders = collapsesFolders
        self.pageSize = pageSize
        self.pageToken = pageToken
    }
}

/// One page of a list, in byte order of the names. May be empty and still have a next page.
package struct ListPage: Sendable {
    package var items: [ObjectMetadata]
    /// Objects of which the list tells the name alone: of a store without `abilities.listsMetadata` all of them, and
    /// `items` is empty.
    package var names: [ObjectName]
    /// Full names that end in `/`.
    package var folders: [ObjectName]
    package var nextPageToken: String?

    package init(
        items: [ObjectMetadata] = [], names: [ObjectName] = [], folders: [ObjectName], nextPageToken: String?
    ) {
        self.items = items
        self.names = names
        self.folders = folders
        self.nextPageToken = nextPageToken
    }
}
