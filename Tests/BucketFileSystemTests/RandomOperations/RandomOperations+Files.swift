import ObjectStore

@testable import BucketFileSystem

/// What is done to open files.
extension RandomOperations {
    func create() async throws {
        guard handles.count < Self.mostHandles, let (folder, name, path) = anyPlace() else { return }
        try await create(
            name, in: folder, path, exclusively: random.chance(1, in: 4), truncates: random.chance(1, in: 2))
    }

    @discardableResult
    private func create(
        _ name: String, in folder: ReferenceNode, _ path: [String], exclusively: Bool, truncates: Bool
    ) async throws -> OpenedHere? {
        note("create \(path) \(exclusively ? "exclusively" : "") \(truncates ? "truncating" : "")")
        let existing = folder.children?[name]
        // Opening what is no file is for the kernel to refuse or follow.
        if let existing, existing.bytes == nil { return nil }
        let parent = try await inode(path.dropLast())
        let permissions = existing?.permissions ?? random.choice([0o644, 0o600, 0o755])
        let mode = OpenMode(reads: true, writes: true, truncates: truncates)
        let expected: String? = exclusively && existing != nil ? "exists" : nil
        let made = try await expect(expected) {
            try await self.files.create(
                EntryName(name), in: parent, permissions: permissions, mode, exclusively: exclusively)
        }
        guard let made else { return nil }
        remember(made.entry)
        let type = ReferenceNode.usualType(of: name)
        let node = existing ?? ReferenceNode(.file([]), permissions: permissions, type: type)
        if existing == nil { folder.set(name, node) } else if truncates { node.truncate(to: 0) }
        let opened = OpenedHere(id: made.file.handle, inode: made.entry.inode, node: node)
        handles.append(opened)
        return opened
    }

    func openExisting() async throws {
        guard handles.count < Self.mostHandles, let (path, node) = anyFile() else { return }
        try await open(path, node, truncates: random.chance(1, in: 5))
    }

    @discardableResult
    private func open(_ path: [String], _ node: ReferenceNode, truncates: Bool) async throws -> OpenedHere? {
        note("open \(path) \(truncates ? "truncating" : "")")
        let inode = try await inode(path)
        let mode = OpenMode(reads: true, writes: true, truncates: truncates)
        guard let file = try await expect(nil, { try await self.files.open(inode, mode) }) else { return nil }
        if truncates { node.truncate(to: 0) }
        let opened = OpenedHere(id: file.handle, inode: inode, node: node)
        handles.append(opened)
        note("  as \(file.handle)")
        return opened
    }

    func writeSome() async throws {
        guard let handle = handles.randomElement(using: &random) else { return }
        try await write(to: handle)
    }

    private func write(to handle: OpenedHere) async throws {
        guard let bytes = handle.node.bytes else { return }
        let appends = random.chance(1, in: 4)
        let offset = appends ? bytes.count : Int.random(in: 0...bytes.count + 200, using: &random)
        let new = random.bytes(random.choice(Self.sizes))
        note("write \(new.count) at \(offset) of \(handle.id)\(appends ? ", appending" : "")")
        guard !new.isEmpty, offset < 60_000 else { return }
        _ = try await expect(nil) {
            try unsafe new.withUnsafeBytes {
                try unsafe self.files.write(
                    handle.id, at: Int64(offset), $0, appends: appends)
            }
        }
        handle.node.write(new, at: offset)
    }

    func readSome() async throws {
        guard let handle = handles.randomElement(using: &random), let bytes = handle.node.bytes else { return }
        let offset = Int.random(in: 0...bytes.count + 10, using: &random)
        let count = Int.random(in: 1...6_000, using: &random)
        note("read \(count) at \(offset) of \(handle.id)")
        let read = try await expect(nil) { try await self.read(handle.id, at: offset, count: count) }
        try check(read, is: Array(bytes.dropFirst(offset).prefix(count)), "bytes")
    }

    func read(_ handle: HandleID, at offset: Int, count: Int) async throws -> [UInt8] {
        let files = files
        let result: Result<[UInt8], FileSystemError> = await withCheckedContinuation { continuation in
            files.read(handle, at: Int64(offset), count: count) { result in
                continuation.resume(
                    returning: result.map { read in read.pieces.flatMap { piece in unsafe Array(piece.bytes) } })
            }
        }
        return try result.get()
    }

    func truncateHandle() async throws {
        guard let handle = handles.randomElement(using: &random), let bytes = handle.node.bytes else { return }
        let size = Int.random(in: 0...bytes.count + 300, using: &random)
        note("truncate \(handle.id) to \(size)")
        var changes = AttributeChanges()
        changes.size = Int64(size)
        let answer = try await expect(nil) {
            try await self.files.setAttributes(of: handle.inode, to: changes, handle: handle.id)
        }
        handle.node.truncate(to: size)
        try check(answer?.attributes.size, is: Int64(size), "size")
    }

    func synchronize() async throws {
        guard let handle = handles.randomElement(using: &random) else { return }
        note("fsync \(handle.id)")
        _ = try await expect(nil) { try await self.files.synchronize(handle.id) }
    }

    func close() async throws {
        guard let handle = takeHandle() else { return }
        note("close \(handle.id)")
        _ = try await expect(nil) { try await self.files.flush(handle.id) }
        files.release(handle.id)
    }

    /// A mapped file's pages come after the close, and nobody waits for what becomes of them.
    func closeWithMappedPages() async throws {
        guard let handle = takeHandle() else { return }
        note("close \(handle.id), mapped")
        _ = try await expect(nil) { try await self.files.flush(handle.id) }
        try await write(to: handle)
        files.release(handle.id)
    }

    private func takeHandle() -> OpenedHere? {
        handles.isEmpty ? nil : handles.remove(at: Int.random(in: 0..<handles.count, using: &random))
    }

    /// As `cp` does, inside the mount: the copy begins with as much as the bucket can copy, and both stay open.
    func copy() async throws {
        guard handles.count + 2 <= Self.mostHandles, let (from, source) = anyFile(),
            let (folder, name, to) = anyPlace(), folder.children?[name] !== source
        else { return }
        guard let source = try await open(from, source, truncates: false),
            let target = try await create(name, in: folder, to, exclusively: false, truncates: true),
            let bytes = source.node.bytes
        else { return }
        let count = random.chance(3, in: 4) ? bytes.count + 10 : Int.random(in: 0...bytes.count, using: &random)
        note("copy \(count) of \(source.id) to \(target.id)")
        let copied: Int64
        do {
            copied = try files.copyRange(from: source.id, at: 0, to: target.id, at: 0, count: Int64(count))
        } catch .unsupported {
            // The kernel reads and writes then, which needs no trying here.
            return
        }
        try check(Int(copied), is: min(count, bytes.count), "bytes copied")
        if copied > 0 { target.node.write(Array(bytes.prefix(count)), at: 0) }
    }
}
