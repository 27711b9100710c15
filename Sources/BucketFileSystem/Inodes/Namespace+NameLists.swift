import ObjectStore

/// How pages that tell names alone become entries.
extension Namespace {
    /// One page of `folder`'s names. Of a name that is known it says that it is still there and nothing of how old the
    /// rest is. Answers the entry names in the page, each once over the run.
    /// - Parameter seen: the names of the run so far.
    mutating func mergeNames(
        _ page: ListPage, into folder: Node, prefix: ObjectName, seen: inout Set<EntryName>, asOf: Instant
    ) -> [EntryName] {
        var names: [EntryName] = []
        if seen.isEmpty { folder.directory?.walk.startOver() }
        func add(_ name: EntryName, isFolder: Bool, _ segment: ArraySlice<UInt8>) {
            guard seen.insert(name).inserted else { return }
            if Spelling.segment(of: name)?.isShortened == true { folder.directory?.shortened[name] = Array(segment) }
            learn(name, in: folder, isFolder: isFolder, asOf: asOf)
            guard folder.directory?.child(name)?.exists == true else { return }
            names.append(name)
            folder.directory?.walk.append(name)
        }
        for object in page.names {
            let segment = object.bytes.dropFirst(prefix.bytes.count)
            add(Spelling.name(of: segment), isFolder: false, segment)
        }
        for object in page.folders {
            let segment = object.bytes.dropFirst(prefix.bytes.count).dropLast()
            if folder.parent == nil, segment.elementsEqual(FileSystem.ownFolder) { continue }
            let isBesideFile = isFile(Spelling.name(of: segment), in: folder, seen: seen)
            add(Spelling.name(of: segment, isFolderBesideFile: isBesideFile), isFolder: true, segment)
        }
        return names
    }

    private mutating func learn(_ name: EntryName, in folder: Node, isFolder: Bool, asOf: Instant) {
        let known = folder.directory?.child(name)
        if let known, known.outranksAnswers || known.asOf > asOf || known.isFolder == isFolder { return }
        if case .node(let node) = known { detach(node, as: .superseded, leaving: nil) }
        folder.directory?.set(name, .listed(isFolder: isFolder, asOf: asOf))
    }
}
