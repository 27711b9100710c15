import ObjectStore

/// Files and folders as any local file system keeps them: what `RandomOperations` holds the real one against. It is
/// written to be obviously right, and knows nothing of buckets but which attributes go from one file to another.
final class ReferenceNode {
    enum Content {
        case file([UInt8])
        case folder([String: ReferenceNode])
        case link([UInt8])
    }

    /// What extended attributes show, as they are called.
    struct Attributes: Equatable {
        var type: String
        var cacheControl: String?
        var custom: [String: String] = [:]
    }

    var content: Content
    var permissions: UInt16
    var owner: UInt32 = 0
    var group: UInt32 = 0
    /// nil: whenever it was last written.
    var modified: Timestamp?
    /// nil: nobody has set it since the file was last written.
    var accessed: Timestamp?
    var attributes: Attributes

    init(_ content: Content, permissions: UInt16, type: String) {
        self.content = content
        self.permissions = permissions
        attributes = Attributes(type: type)
    }

    var children: [String: ReferenceNode]? {
        if case .folder(let children) = content { children } else { nil }
    }

    var bytes: [UInt8]? {
        if case .file(let bytes) = content { bytes } else { nil }
    }

    var isFolder: Bool { children != nil }

    var isLink: Bool {
        if case .link = content { true } else { false }
    }

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
        forgetTimes()
    }

    func truncate(to size: Int) {
        guard case .file(let bytes) = content else { preconditionFailure("a truncation of no file") }
        content = .file(bytes.prefix(size) + [UInt8](repeating: 0, count: max(0, size - bytes.count)))
        forgetTimes()
    }

    private func forgetTimes() {
        modified = nil
        accessed = nil
    }

    // MARK: Types

    /// The type of a file that nobody has given one.
    static func usualType(of name: String) -> String {
        name.hasSuffix(".txt") ? "text/plain" : "application/octet-stream"
    }

    static let folderType = "application/x-directory"

    /// Another name: a type that came from the old one becomes the new one's, and of what had the new name before it
    /// takes over what it has not itself.
    func rename(from old: String, to new: String, replacing replaced: ReferenceNode?) {
        guard !isFolder else { return }
        let usual = Self.usualType(of: new)
        if attributes.type == Self.usualType(of: old) { attributes.type = usual }
        guard let replaced else { return }
        let other = replaced.attributes
        if !replaced.isLink, attributes.type == usual { attributes.type = other.type }
        attributes.cacheControl = attributes.cacheControl ?? other.cacheControl
        attributes.custom.merge(other.custom) { own, _ in own }
    }
}

/// The whole of it, by path.
struct ReferenceTree {
    let root = ReferenceNode(.folder([:]), permissions: 0o755, type: ReferenceNode.folderType)

    /// nil: there is none, or something on the way is no folder.
    func node(_ path: some Sequence<String>) -> ReferenceNode? {
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
