import ObjectStore

@testable import BucketFileSystem

/// What is done to names.
extension RandomOperations {
    func truncatePath() async throws {
        guard let (path, node) = anyFile(), let bytes = node.bytes else { return }
        let size = Int.random(in: 0...bytes.count + 300, using: &random)
        note("truncate \(path) to \(size)")
        var changes = AttributeChanges()
        changes.size = Int64(size)
        _ = try await expect(nil) {
            try await self.files.setAttributes(of: try await self.inode(path), to: changes, handle: nil)
        }
        node.truncate(to: size)
    }

    func makeFolder() async throws {
        guard let (folder, name, path) = anyPlace(), path.count < Self.deepest else { return }
        note("mkdir \(path)")
        let permissions: UInt16 = random.choice([0o755, 0o700])
        let parent = try await inode(path.dropLast())
        let made = try await expect(folder.children?[name] == nil ? nil : "exists") {
            try await self.files.makeDirectory(EntryName(name), in: parent, permissions: permissions)
        }
        guard let made else { return }
        remember(made)
        folder.set(name, ReferenceNode(.folder([:]), permissions: permissions, type: ReferenceNode.folderType))
    }

    func makeLink() async throws {
        guard let (folder, name, path) = anyPlace() else { return }
        let target = Array("../\(random.choice(Self.names))".utf8)
        note("symlink \(path)")
        let parent = try await inode(path.dropLast())
        let made = try await expect(folder.children?[name] == nil ? nil : "exists") {
            try await self.files.makeSymbolicLink(EntryName(name), in: parent, target: target)
        }
        guard let made else { return }
        remember(made)
        folder.set(name, ReferenceNode(.link(target), permissions: 0o777, type: "application/octet-stream"))
    }

    func rename() async throws {
        guard let (source, node) = anything(), let (folder, name, target) = anyPlace() else { return }
        // The kernel's own answers: into itself, onto itself, a folder onto a file or the other way round.
        guard !target.starts(with: source), !source.starts(with: target) else { return }
        let existing = folder.children?[name]
        if let existing, existing.isFolder != node.isFolder { return }
        let replaces = !random.chance(1, in: 5)
        note("rename \(source) to \(target) \(replaces ? "" : "not replacing")")
        let (from, to) = (try await inode(source.dropLast()), try await inode(target.dropLast()))
        // The kernel has looked both up.
        _ = try await inode(source)
        if existing != nil { _ = try await inode(target) }
        let isFull = existing?.children?.isEmpty == false
        let expected = existing == nil ? nil : !replaces ? "exists" : isFull ? "directoryNotEmpty" : nil
        let oldName = source.last ?? ""
        let renamed: Void? = try await expect(expected) {
            try await self.files.rename(EntryName(oldName), in: from, to: EntryName(name), in: to, replaces: replaces)
        }
        guard renamed != nil else { return }
        tree.node(source.dropLast())?.set(oldName, nil)
        folder.set(name, node)
        node.rename(from: oldName, to: name, replacing: existing)
    }

    func unlink() async throws {
        guard let (path, node) = anything(), !node.isFolder else { return }
        note("unlink \(path)")
        let parent = try await inode(path.dropLast())
        _ = try await inode(path)
        _ = try await expect(nil) { try await self.files.unlink(EntryName(path.last ?? ""), in: parent) }
        tree.node(path.dropLast())?.set(path.last ?? "", nil)
    }

    func removeFolder() async throws {
        guard let (path, node) = anything(), let children = node.children else { return }
        note("rmdir \(path)")
        let parent = try await inode(path.dropLast())
        _ = try await inode(path)
        let removed: Void? = try await expect(children.isEmpty ? nil : "directoryNotEmpty") {
            try await self.files.removeDirectory(EntryName(path.last ?? ""), in: parent)
        }
        if removed != nil { tree.node(path.dropLast())?.set(path.last ?? "", nil) }
    }
}
