import ObjectStore

/// What is below a folder.
extension Namespace {
    /// Every node below `folder`, in no order.
    func visit(below folder: Node, _ body: (Node) -> Void) {
        for case .node(let node) in (folder.directory?.children ?? [:]).values {
            body(node)
            visit(below: node, body)
        }
    }

    /// After the bucket renamed a folder: what is read goes on under the new names, and what else is known of them is
    /// asked anew.
    func followFolder(_ folder: Node) {
        folder.directory?.listedAt = nil
        for (name, child) in folder.directory?.children ?? [:] {
            guard case .node(let node) = child else {
                folder.directory?.set(name, nil)
                continue
            }
            node.asOf = Self.longAgo
            if let record = node.record {
                node.contents?.relocate(to: objectName(of: node), objectGeneration: record.objectGeneration)
            }
            followFolder(node)
        }
    }

    /// After a folder was renamed by copying: each name below stands for its copy. A name without one was not in the
    /// bucket (a file that is still to be stored), or is no longer sure.
    func adopt(_ copies: [ObjectName: FileRecord], below folder: Node, now: Instant) {
        guard let directory = folder.directory else { return }
        for (name, child) in directory.children {
            switch child {
            case .node(let node):
                let object = objectName(of: node)
                if node.kind == .file, node.record == nil {
                    // Not its own copy, but that of the object which it is to replace.
                    node.replaces = copies[object]
                } else if let record = copies[object] {
                    node.contents?.relocate(to: object, objectGeneration: record.objectGeneration)
                    stored(node, as: record, now: now)
                }
                adopt(copies, below: node, now: now)
            case .known(let kind, let record, let asOf):
                guard kind != .directory || record != nil else { continue }
                let copy = copies[objectName(name, in: folder, kind: kind)]
                directory.set(name, copy.map { .known(kind: kind, record: $0, asOf: asOf) })
                if copy == nil { directory.listedAt = nil }
            case .listed, .absent: break
            }
        }
    }
}
