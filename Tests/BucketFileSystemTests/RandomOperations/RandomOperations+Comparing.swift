import Locking
import ObjectStore

@testable import BucketFileSystem

/// Looking, and comparing what is seen.
extension RandomOperations {
    func list() async throws {
        guard let (path, node) = anything(), let children = node.children else { return }
        note("list \(path)")
        try check(try await names(in: path).sorted(), is: children.keys.sorted(), "names")
    }

    func look() async throws {
        guard let (folder, name, path) = anyPlace() else { return }
        note("look \(path)")
        guard let node = folder.children?[name] else {
            let parent = try await inode(path.dropLast())
            if case .found(let entry) = try await files.lookup(EntryName(name), in: parent) {
                remember(entry)
                throw difference("\(path) should not be there")
            }
            return
        }
        try await compare(path, node)
    }

    func compare(_ path: [String], _ node: ReferenceNode) async throws {
        let inode = try await inode(path)
        let attributes = try await files.attributes(of: inode).attributes
        switch node.content {
        case .folder: try check(attributes.kind, is: .directory, "kind of \(path)")
        case .file(let bytes):
            try check(attributes.kind, is: .file, "kind of \(path)")
            try check(attributes.size, is: Int64(bytes.count), "size of \(path)")
        case .link(let target):
            try check(attributes.kind, is: .symbolicLink, "kind of \(path)")
            try check(try await files.target(ofSymbolicLink: inode), is: target, "target of \(path)")
        }
        if let modified = node.modified { try check(attributes.modified, is: modified, "time of \(path)") }
        if let accessed = node.accessed { try check(attributes.accessed, is: accessed, "access time of \(path)") }
        try check(attributes.permissions, is: node.permissions, "permissions of \(path)")
        try check([attributes.owner, attributes.group], is: [node.owner, node.group], "owner of \(path)")
        if !node.isLink { try await compareExtendedAttributes(path, node, inode) }
    }

    func compareAll() async throws {
        note("compare")
        for (path, node) in tree.all() {
            try await compare(path, node)
            if let children = node.children {
                try check(try await names(in: path).sorted(), is: children.keys.sorted(), "names in \(path)")
            }
            if let bytes = node.bytes {
                let opened = try await files.open(
                    try await inode(path), OpenMode(reads: true, writes: false, truncates: false))
                let read = try await read(opened.handle, at: 0, count: max(1, bytes.count + 10))
                files.release(opened.handle)
                try check(read, is: bytes, "bytes of \(path)")
            }
        }
    }

    private func names(in path: [String]) async throws -> [String] {
        let handle = try await files.openDirectory(try await inode(path))
        defer { files.releaseDirectory(handle) }
        let found = Lock((names: [String](), cookie: UInt64(0)))
        while true {
            let before = found.withLock { $0.names.count }
            try await files.readDirectory(handle, after: found.withLock { $0.cookie }, withAttributes: false) { entry in
                let (name, cookie) = (entry.name.description, entry.cookie)
                found.withLock { $0 = ($0.names + [name], cookie) }
                return true
            }
            if found.withLock({ $0.names.count }) == before { break }
        }
        return found.withLock { $0.names }.filter { $0 != "." && $0 != ".." }
    }
}
