import ObjectStore

/// How list pages become entries.
extension Namespace {
    /// One page of `folder`'s names: what it says is learnt; answers the entry names in it, each once over the run.
    /// - Parameter seen: the names of the run so far.
    mutating func merge(
        _ page: ListPage, into folder: Node, prefix: ObjectName, seen: inout Set<EntryName>, asOf: Instant
    ) -> [EntryName] {
        var names: [EntryName] = []
        func add(_ name: EntryName, _ kind: FileAttributes.Kind, _ record: FileRecord?, _ segment: ArraySlice<UInt8>) {
            guard seen.insert(name).inserted else { return }
            if Spelling.segment(of: name)?.isShortened == true { folder.directory?.shortened[name] = Array(segment) }
            learn(name, in: folder, kind: kind, record: record, asOf: asOf)
            if folder.directory?.child(name)?.exists == true { names.append(name) }
        }
        var placeholders: [ObjectName: FileRecord] = [:]
        for item in page.items {
            let record = FileRecord(item)
            let segment = item.name.bytes.dropFirst(prefix.bytes.count)
            if segment.isEmpty {
                if folder.asOf <= asOf { folder.record = record }
            } else if segment.last == UInt8(ascii: "/") {
                placeholders[item.name] = record
            } else {
                add(Spelling.name(of: segment), record.isSymbolicLink ? .symbolicLink : .file, record, segment)
            }
        }
        for object in page.folders {
            let segment = object.bytes.dropFirst(prefix.bytes.count).dropLast()
            if folder.parent == nil, segment.elementsEqual(FileSystem.ownFolder) { continue }
            // The file of that name, if there is one, comes first in byte order, so it is known by now.
            let isBesideFile = isFile(Spelling.name(of: segment), in: folder, seen: seen)
            let name = Spelling.name(of: segment, isFolderBesideFile: isBesideFile)
            add(name, .directory, placeholders[object], segment)
        }
        return names
    }

    func isFile(_ name: EntryName, in folder: Node, seen: Set<EntryName>) -> Bool {
        switch folder.directory?.child(name) {
        case .node(let node): node.kind != .directory && (node.outranksAnswers || seen.contains(name))
        case .known(let kind, _, _): kind != .directory && seen.contains(name)
        case .listed(let isFolder, _): !isFolder && seen.contains(name)
        case .absent, nil: false
        }
    }

    /// The run is complete: what it did not see is gone. Answers the names that only we know of.
    mutating func endListing(of folder: Node, seen: Set<EntryName>, startedAt: Instant, pages: Int) -> [EntryName] {
        guard let directory = folder.directory else { return [] }
        var ours: [EntryName] = []
        for (name, child) in directory.children where child.exists && !seen.contains(name) {
            if child.outranksAnswers || child.asOf > startedAt {
                ours.append(name)
            } else if case .node(let node) = child, node.stays {
                node.asOf = startedAt
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

    /// Kind, where it is known, and number of an entry that need not become a node.
    func listed(_ name: EntryName, _ child: Child, in folder: Node) -> (FileAttributes.Kind?, UInt64) {
        switch child {
        case .node(let node): return (node.kind, node.fileNumber)
        case .known(let kind, _, _):
            let object = objectName(name, in: folder, kind: kind)
            return (kind, FileNumber.make(from: object.bytes, attempt: 0))
        case .listed(let isFolder, _):
            // Of two kinds that are no folder, each has the same number.
            let object = objectName(name, in: folder, kind: isFolder ? .directory : .file)
            return (isFolder ? .directory : nil, FileNumber.make(from: object.bytes, attempt: 0))
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
