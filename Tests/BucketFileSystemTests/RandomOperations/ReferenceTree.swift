import ObjectStore

/// Files and folders as any local file system keeps them: what `RandomOperations` holds the real one against. It is
/// written to be obviously right, and knows nothing of buckets.
final class ReferenceNode {
    enum Content {
        case file([UInt8])
        case folder([String: ReferenceNode])
        case link([UInt8])
    }

    var content: Content
    var permissions: UInt16
    /// nil: whenever it was last written.
    var modified: Timestamp?

    init(_ content: Content, permissions: UInt16) {
        self.content = content
        self.permissions = permissions
    }

    var children: [String: ReferenceNode]? {
        if case .folder(let children) = content { children } else { nil }
    }

    var bytes: [UInt8]? {
        if case .file(let bytes) = content { bytes } else { nil }
    }

    var isFolder: Bool { children != nil }

    func set(_ name: String, _ child: ReferenceNode?) {
        guard case .folder(var children) = content else { preconditionFailure("\(name) in no folder") }
        children[name] = child
        content = .folder(children)
    }

    /// Puts `new` at `offset`; a gap before it reads as zeros.
    func write(_ new: [UInt8], at offset: Int) {
        guard case .file(var bytes) = content else { preconditionFailure("a write to no file") }
        content = .file([])
        if bytes.count < offset + new.count {
            bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count)
        }
        bytes.replaceSubrange(offset..<offset + new.count, with: new)
        content = .file(bytes)
        modified = nil
    }

    func truncate(to size: Int) {
        guard case .file(let bytes) = content else { preconditionFailure("a truncation of no file") }
        content = .file(bytes.prefix(size) + [UInt8](repeating: 0, count: max(0, size - bytes.count)))
        modified = nil
    }
}

/// The whole of it, by path.
struct ReferenceTree {
    let root = ReferenceNode(.folder([:]), permissions: 0o755)

    /// nil: there is none, or something on the way is no folder.
    func node(_ path: [String]) -> ReferenceNode? {
        path.reduce(Optional(root)) { $0?.children?[$1] }
    }

    /// Every path below the root, folders before what is in them.
    func all() -> [(path: [String], node: ReferenceNode)] {
        func below(_ folder: ReferenceNode, _ path: [String]) -> [(path: [String], node: ReferenceNode)] {
            (folder.children ?? [:]).sorted { $0.key < $1.key }.flatMap { name, node in
                [(path + [name], node)] + below(node, path + [name])
            }
        }
        return below(root, [])
    }
}
