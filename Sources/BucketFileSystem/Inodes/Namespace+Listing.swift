import ObjectStore

/// How list pages become entries.
extension Namespace {
    /// One page of `folder`'s names: what it says is learnt; answers the entry names in it, each once over the run.
    /// - Parameter seen: the names of the run so far.
    mutating func merge(
        _ page: ListPage, into folder: Node, prefix: ObjectName, seen: inout Set<EntryName>, asOf: Instant
    ) -> (names: [EntryName], refused: [ObjectName]) {
        var names: [EntryName] = []
        var refused: [ObjectName] = []
        func add(_ object: ObjectName, _ kind: FileAttributes.Kind, _ record: FileRecord?) {
            guard let name = EntryName(of: object, below: prefix, kind: kind) else { return refused.append(object) }
            // A file and a folder of one name: the file comes first in byte order and has the name.
            guard seen.insert(name).inserted else { return }
            learn(name, in: folder, kind: kind, record: record, asOf: asOf)
            if folder.directory?.child(name)?.exists == true { names.append(name) }
        }
        var placeholders: [ObjectName: FileRecord] = [:]
        for item in page.items {
            let record = FileRecord(item)
            if item.name == prefix {
                if folder.asOf <= asOf { folder.record = record }
            } else if item.name.bytes.last == UInt8(ascii: "/") {
                placeholders[item.name] = record
            } else {
                add(item.name, record.isSymbolicLink ? .symbolicLink : .file, record)
            }
        }
        for name in page.folders { add(name, .directory, placeholders[name]) }
        return (names, refused)
    }

    /// The run is complete: what it did not see is gone. Answers the names that only we know of.
    mutating func endListing(of folder: Node, seen: Set<EntryName>, startedAt: Instant, pages: Int) -> [EntryName] {
        guard let directory = folder.directory else { return [] }
        var ours: [EntryName] = []
        for (name, child) in directory.children where child.exists && !seen.contains(name) {
            if child.isLocal || child.asOf > startedAt || stays(child) {
                ours.append(name)
            } else if case .node(let node) = child {
                detach(node, as: .superseded, leaving: nil)
            } else {
                directory.set(name, nil)
            }
        }
        directory.listedAt = startedAt
        directory.isLarge = pages > 1
        return ours
    }

    private func stays(_ child: Child) -> Bool {
        if case .node(let node) = child { node.directory?.stays == true } else { false }
    }

    /// Kind and number of an entry that need not become a node.
    func listed(_ name: EntryName, _ child: Child, in folder: Node) -> (FileAttributes.Kind, UInt64) {
        switch child {
        case .node(let node): return (node.kind, node.fileNumber)
        case .known(let kind, _, _):
            let object = objectName(name, in: folder, kind: kind)
            return (kind, FileNumber.make(from: object.bytes, attempt: 0))
        case .absent: preconditionFailure("an absent child is not listed: \(name)")
        }
    }

    /// The entries to show of a folder that was listed lately; nil: it must be listed.
    func cachedNames(of folder: Node, now: Instant) -> [EntryName]? {
        guard let directory = folder.directory, let listedAt = directory.listedAt, isFresh(listedAt, now: now) else {
            return nil
        }
        return directory.children.filter { $0.value.exists }.map(\.key).sorted()
    }
}

extension EntryName {
    /// The entry that `object` is in the folder `prefix`; nil when its last segment is no legal file name.
    init?(of object: ObjectName, below prefix: ObjectName, kind: FileAttributes.Kind) {
        var segment = object.bytes.dropFirst(prefix.bytes.count)
        if kind == .directory { segment = segment.dropLast() }
        let isDots =
            segment.elementsEqual([UInt8(ascii: ".")]) || segment.elementsEqual([UInt8(ascii: "."), UInt8(ascii: ".")])
        guard !segment.isEmpty, segment.count <= Self.longest, !isDots, !segment.contains(0),
            !segment.contains(UInt8(ascii: "/"))
        else { return nil }
        self.init(Array(segment))
    }

    /// `NAME_MAX`, in bytes.
    static let longest = 255
}
