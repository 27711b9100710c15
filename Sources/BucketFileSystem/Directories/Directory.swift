/// What is known of one folder's entries. Owned by its `Node`; touched only under the namespace's lock.
final class Directory {
    private(set) var children: [EntryName: Child] = [:]
    /// How many children are not `.absent`.
    private(set) var count = 0
    /// How many are nodes.
    private(set) var nodeCount = 0
    /// The segments of names that are too long to be spelled out; kept from listings.
    var shortened: [EntryName: [UInt8]] = [:]
    /// When the last whole listing began; nil: never listed, or no longer to be relied on.
    var listedAt: Instant?
    /// When this mount made the folder.
    var madeAt: Instant?
    /// More names than one list page: a name is then asked for by itself instead of by listing again.
    var isLarge = false
    /// The listing under way, shared by all who need it.
    var listing: Listing?
    /// Where lists tell names alone: what is asked about them, ahead of who walks through them.
    var walk = MetadataWalk()
    /// Under way.
    var questions: [EntryName: MetadataQuestion] = [:]
    /// Emptied here and without a placeholder in the bucket: it stays until `rmdir` all the same.
    var stays = false

    func child(_ name: EntryName) -> Child? { children[name] }

    func set(_ name: EntryName, _ child: Child?) {
        let old = child.map { children.updateValue($0, forKey: name) } ?? children.removeValue(forKey: name)
        if let old, old.exists { count -= 1 }
        if let child, child.exists { count += 1 }
        if case .node = old { nodeCount -= 1 }
        if case .node = child { nodeCount += 1 }
        if case .absent = child { forgetAbsentIfMany() }
    }

    func removeAll() {
        children = [:]
        count = 0
        nodeCount = 0
        listing = nil
        walk = MetadataWalk()
    }

    /// A program that probes for many names must not fill the memory. Forgetting one only means to ask again.
    private func forgetAbsentIfMany() {
        guard children.count - count > Self.mostAbsent else { return }
        children = children.filter { $0.value.exists }
    }

    private static let mostAbsent = 1_000
}

/// One entry of a folder.
enum Child {
    /// The kernel holds a node of it, which says the rest.
    case node(Node)
    /// Known from a list or an answer, without a node.
    case known(kind: FileAttributes.Kind, record: FileRecord?, asOf: Instant)
    /// From a list that tells names alone: a folder, or else a file or a link. The rest must be asked for.
    case listed(isFolder: Bool, asOf: Instant)
    /// Asked for and not there.
    case absent(asOf: Instant)

    var exists: Bool {
        switch self {
        case .node, .known, .listed: true
        case .absent: false
        }
    }

    var asOf: Instant {
        switch self {
        case .node(let node): node.asOf
        case .known(_, _, let asOf), .listed(_, let asOf), .absent(let asOf): asOf
        }
    }

    /// nil: there is nothing.
    var isFolder: Bool? {
        switch self {
        case .node(let node): node.kind == .directory
        case .known(let kind, _, _): kind == .directory
        case .listed(let isFolder, _): isFolder
        case .absent: nil
        }
    }

    var isLocal: Bool { node?.isLocal ?? false }

    var outranksAnswers: Bool { node?.outranksAnswers ?? false }

    private var node: Node? {
        if case .node(let node) = self { node } else { nil }
    }
}
