import ObjectStore

/// The tree of names as this mount knows it: nodes the kernel refers to, what is cached about their children, and how
/// old that is. A plain value that decides and never waits; `FileSystem` keeps it in a lock and does the asking.
///
/// Invariant: a node is in `nodes` exactly as long as it is in use: its lookups, handles or pins are above zero, or it
/// is a folder with a node below it, or one that only this mount knows of (the root always).
/// Invariant: an attached node is its parent's child of that name.
struct Namespace {
    let configuration: Configuration
    private var nodes: [InodeNumber: Node] = [:]
    private var fileNumbers: Set<UInt64> = [FileNumber.root]
    private var lastNumber = InodeNumber.root.rawValue

    init(configuration: Configuration, now: Instant) {
        self.configuration = configuration
        let root = Node(
            number: .root, fileNumber: FileNumber.root, kind: .directory, parent: nil, name: EntryName("/"),
            segment: [],
            record: nil,
            asOf: now)
        root.lookups = 1
        nodes[.root] = root
    }

    // MARK: Finding

    /// - Throws: `.stale` for a number the kernel should no longer use.
    func node(_ number: InodeNumber) throws(FileSystemError) -> Node {
        guard let node = nodes[number] else { throw .stale }
        return node
    }

    func directory(_ number: InodeNumber) throws(FileSystemError) -> (node: Node, directory: Directory) {
        let node = try node(number)
        guard let directory = node.directory else { throw .notADirectory }
        guard node.link == .attached else { throw node.link == .unlinked ? .notFound : .stale }
        return (node, directory)
    }

    var allNodes: [Node] { Array(nodes.values) }

    /// The object's name; of a folder with its final `/`, which is empty for the root of the whole bucket.
    func objectName(of node: Node) -> ObjectName {
        var segments: [[UInt8]] = []
        var next: Node? = node
        while let current = next, let parent = current.parent {
            segments.append(current.segment)
            next = parent
        }
        var bytes = configuration.prefix.bytes
        for (index, segment) in segments.reversed().enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "/")) }
            bytes += segment
        }
        if node.kind == .directory, node.parent != nil { bytes.append(UInt8(ascii: "/")) }
        return ObjectName(bytes)
    }

    func objectName(_ name: EntryName, in folder: Node, kind: FileAttributes.Kind) -> ObjectName {
        let slash = kind == .directory ? [UInt8(ascii: "/")] : []
        return ObjectName(objectName(of: folder).bytes + segment(of: name, in: folder) + slash)
    }

    /// What the bucket calls `name`. A name that no object can have stands for itself; it is never asked for.
    private func segment(of name: EntryName, in folder: Node) -> [UInt8] {
        folder.directory?.shortened[name] ?? Spelling.segment(of: name)?.bytes ?? name.bytes
    }

    // MARK: Ages

    func isFresh(_ asOf: Instant, now: Instant) -> Bool { now.elapsed(since: asOf) < configuration.metadataTTL }

    /// How long the kernel may keep what was true at `asOf`. Local state changes only through this mount.
    func validity(of node: Node, now: Instant) -> Duration {
        guard !node.isLocal, node.parent != nil else { return configuration.metadataTTL }
        return max(.zero, configuration.metadataTTL - now.elapsed(since: node.asOf))
    }

    // MARK: Nodes

    /// The node of child `name`, made if only its record is known; nil when there is no such child, or its name alone
    /// is known.
    mutating func nodeOfChild(_ name: EntryName, in folder: Node) -> Node? {
        guard let directory = folder.directory else { return nil }
        switch directory.child(name) {
        case .node(let node): return node
        case .known(let kind, let record, let asOf):
            return addNode(name, in: folder, kind: kind, record: record, asOf: asOf)
        case .listed, .absent, nil: return nil
        }
    }

    /// A new node for `name`, which takes the place of what was known of the name.
    mutating func addNode(
        _ name: EntryName, in folder: Node, kind: FileAttributes.Kind, record: FileRecord?, asOf: Instant
    ) -> Node {
        lastNumber += 1
        let node = Node(
            number: InodeNumber(lastNumber),
            fileNumber: takeFileNumber(for: objectName(name, in: folder, kind: kind)), kind: kind, parent: folder,
            name: name, segment: segment(of: name, in: folder), record: record, asOf: asOf)
        nodes[node.number] = node
        folder.directory?.set(name, .node(node))
        return node
    }

    /// Something refers to `node` no longer as often; the last one removes it, and then its folder, if that was kept
    /// for it alone: found anew, the folder would not know of a node that is still in use below it.
    mutating func dropIfUnused(_ node: Node) {
        guard !node.isInUse, let parent = node.parent, nodes.removeValue(forKey: node.number) != nil else { return }
        node.contents?.discard()
        guard node.link == .attached else { return }
        fileNumbers.remove(node.fileNumber)
        parent.directory?.set(node.name, .known(kind: node.kind, record: node.record, asOf: node.asOf))
        dropIfUnused(parent)
    }

    /// The end: parents and children hold each other.
    mutating func removeAll() {
        for node in nodes.values { node.directory?.removeAll() }
        nodes = [:]
    }

    mutating func forget(_ number: InodeNumber, lookups: UInt64) {
        guard let node = nodes[number] else { return }
        precondition(node.lookups >= lookups, "\(number): forget \(lookups) of \(node.lookups)")
        node.lookups -= lookups
        dropIfUnused(node)
    }

    /// `node` loses its name: by our own hand (`.unlinked`) or another client's (`.superseded`).
    mutating func detach(_ node: Node, as link: Node.Link, leaving child: Child?) {
        guard node.link == .attached else { return }
        node.link = link
        fileNumbers.remove(node.fileNumber)
        node.parent?.directory?.set(node.name, child)
        // What hangs below a folder that is gone is gone too.
        for case .node(let below) in (node.directory?.children ?? [:]).values { detach(below, as: link, leaving: nil) }
        dropIfUnused(node)
        if let parent = node.parent { dropIfUnused(parent) }
    }

    /// `node` gets another name; what is below a folder follows by itself.
    mutating func relink(_ node: Node, to name: EntryName, in folder: Node, now: Instant) {
        let left = node.parent
        left?.directory?.set(node.name, .absent(asOf: now))
        node.parent = folder
        node.name = name
        node.segment = segment(of: name, in: folder)
        folder.directory?.set(name, .node(node))
        if let left { dropIfUnused(left) }
    }

    private mutating func takeFileNumber(for name: ObjectName) -> UInt64 {
        var attempt: UInt64 = 0
        while true {
            let number = FileNumber.make(from: name.bytes, attempt: attempt)
            if fileNumbers.insert(number).inserted { return number }
            attempt += 1
        }
    }

    // MARK: Attributes

    func attributes(of node: Node) -> FileAttributes {
        let local = node.contents?.localAttributes
        let posix = node.record?.posix
        let changes = node.kind == .directory ? node.folderChanges : local?.changes ?? MetadataChanges()
        let modified = changes.modified ?? node.record?.modified ?? Timestamp(seconds: 0)
        return FileAttributes(
            fileNumber: node.fileNumber, kind: node.kind,
            permissions: changes.permissions ?? posix?.permissions ?? defaultPermissions(of: node.kind),
            owner: changes.owner ?? posix?.owner ?? configuration.owner,
            group: changes.group ?? posix?.group ?? configuration.group,
            size: node.kind == .directory ? 0 : local?.size ?? node.record?.size ?? 0,
            linkCount: node.link == .unlinked ? 0 : node.kind == .directory ? 2 : 1,
            accessed: changes.accessed ?? posix?.accessed ?? modified, modified: modified,
            changed: changes.changed ?? posix?.changed ?? modified)
    }

    func defaultPermissions(of kind: FileAttributes.Kind) -> UInt16 {
        switch kind {
        case .file: configuration.filePermissions
        case .directory: configuration.directoryPermissions
        case .symbolicLink: 0o777
        }
    }

    /// `node` as the answer to a lookup, which counts as one.
    func entry(for node: Node, now: Instant) -> Entry {
        node.lookups += 1
        return Entry(
            inode: node.number, attributes: attributes(of: node), validFor: validity(of: node, now: now))
    }
}
