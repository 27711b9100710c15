/// A folder of a hierarchical bucket. Its name ends with a slash.
struct FolderRecord: Sendable {
    var name: ObjectName
    var metageneration: Int64
    var created: Microseconds
    var updated: Microseconds
}

extension ObjectName {
    /// `a/`, `a/b/` for `a/b/c`: every slash ends a folder.
    var enclosingFolders: [ObjectName] {
        bytes.indices.filter { bytes[$0] == UInt8(ascii: "/") }.map { ObjectName(stored: Array(bytes[...$0])) }
    }

    var isFolder: Bool { bytes.last == UInt8(ascii: "/") }

    /// The folder around a folder; nil at the bucket's root.
    var parentFolder: ObjectName? { enclosingFolders.dropLast().last }
}
