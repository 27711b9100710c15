import Locking
import Logging
import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// Operations from a seed, done to a file system and to a `ReferenceTree`, as a kernel would call them: what a kernel
/// refuses by itself is not asked for.
final class RandomOperations {
    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private final class Time: Sendable {
        private let nanoseconds = Lock<UInt64>(1_000_000_000_000)

        func next() -> UInt64 {
            nanoseconds.withLock { nanoseconds in
                nanoseconds += 1_000
                return nanoseconds
            }
        }

        func pass(seconds: UInt64) { nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }
    }

    private struct OpenedHere {
        let id: HandleID
        let inode: InodeNumber
        let node: ReferenceNode
    }

    private let seed: UInt64
    private var random: SplitMix64
    private let store = InMemoryStore()
    private let directory = temporaryDirectory()
    private let time = Time()
    private var files: FileSystem
    private let tree = ReferenceTree()
    private var handles: [OpenedHere] = []
    private var lookups: [(inode: InodeNumber, isFolder: Bool)] = []
    private var recent: [String] = []
    private var done = 0

    /// Few names, so that operations meet.
    private static let names = ["a", "b", "c.txt", "e\u{301}", "%2", "d"]
    private static let sizes = [0, 1, 17, 100, 1_000, 5_000]
    private static let mostHandles = 4
    private static let deepest = 4

    init(seed: UInt64) {
        self.seed = seed
        random = SplitMix64(seed: seed)
        files = Self.fileSystem(store, directory, time)
    }

    private static func fileSystem(
        _ store: InMemoryStore, _ directory: TemporaryDirectory, _ time: Time
    ) -> FileSystem {
        let journal = try! Journal(in: directory.path, for: JournalOwner(bucket: "test", endpoint: "http://test"))
        return FileSystem(
            store: store, configuration: Configuration(), journal: journal, kernelCache: NoKernel(),
            log: Logger(level: .error) { _, _ in },
            clock: Clock(
                now: { Instant(nanoseconds: time.next()) },
                today: { Timestamp(seconds: 1_700_000_000 + Int64(time.next() / 1_000_000_000)) }))
    }

    /// - Throws: `Difference` at the first answer that is not the reference's.
    func run(_ count: Int) async throws {
        for number in 0..<count {
            try await step()
            done += 1
            if number % 500 == 499 { try await compareAll() }
            if number % 2_000 == 1_999 { try await remount() }
            if random.chance(1, in: 3_000) { time.pass(seconds: 120) }
        }
        try await remount()
    }

    private func step() async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<16: try await create()
        case 16..<24: try await openExisting()
        case 24..<44: try await writeSome()
        case 44..<54: try await readSome()
        case 54..<60: try await truncateHandle()
        case 60..<68: try await close()
        case 68..<72: try await truncatePath()
        case 72..<77: try await makeFolder()
        case 77..<80: try await makeLink()
        case 80..<86: try await rename()
        case 86..<90: try await unlink()
        case 90..<92: try await removeFolder()
        case 92..<95: try await setTimesOrMode()
        case 95..<97: try await list()
        case 97..<98: try await synchronize()
        default: try await look()
        }
        forgetSome()
    }

    // MARK: Open files

    private func create() async throws {
        guard handles.count < Self.mostHandles, let (folder, name, path) = anyPlace() else { return }
        let exclusively = random.chance(1, in: 4)
        let truncates = random.chance(1, in: 2)
        note("create \(path) \(exclusively ? "exclusively" : "") \(truncates ? "truncating" : "")")
        let existing = folder.children?[name]
        // Opening what is no file is for the kernel to refuse or follow.
        if let existing, existing.bytes == nil { return }
        let parent = try await inode(path.dropLast())
        let mode = OpenMode(reads: true, writes: true, truncates: truncates)
        let expected: String? = exclusively && existing != nil ? "exists" : nil
        let made = try await expect(expected) {
            try await self.files.create(
                EntryName(name), in: parent, permissions: 0o644, mode, exclusively: exclusively)
        }
        guard let made else { return }
        remember(made.entry)
        let node = existing ?? ReferenceNode(.file([]), permissions: 0o644)
        if existing == nil { folder.set(name, node) } else if truncates { node.truncate(to: 0) }
        handles.append(OpenedHere(id: made.file.handle, inode: made.entry.inode, node: node))
    }

    private func openExisting() async throws {
        guard handles.count < Self.mostHandles, let (path, node) = anyFile() else { return }
        let truncates = random.chance(1, in: 5)
        note("open \(path) \(truncates ? "truncating" : "")")
        let inode = try await inode(path)
        let opened = try await expect(nil) {
            try await self.files.open(inode, OpenMode(reads: true, writes: true, truncates: truncates))
        }
        guard let opened else { return }
        if truncates { node.truncate(to: 0) }
        handles.append(OpenedHere(id: opened.handle, inode: inode, node: node))
    }

    private func writeSome() async throws {
        guard let handle = handles.randomElement(using: &random), let bytes = handle.node.bytes else { return }
        let appends = random.chance(1, in: 4)
        let offset = appends ? bytes.count : Int.random(in: 0...bytes.count + 200, using: &random)
        guard offset < 60_000 else { return }
        let new = random.bytes(Self.sizes.randomElement(using: &random) ?? 0)
        note("write \(new.count) at \(offset) of \(handle.id)")
        guard !new.isEmpty else { return }
        _ = try await expect(nil) {
            try unsafe new.withUnsafeBytes {
                try unsafe self.files.write(
                    handle.id, at: Int64(offset), $0, appends: appends)
            }
        }
        handle.node.write(new, at: offset)
    }

    private func readSome() async throws {
        guard let handle = handles.randomElement(using: &random), let bytes = handle.node.bytes else { return }
        let offset = Int.random(in: 0...bytes.count + 10, using: &random)
        let count = Int.random(in: 1...6_000, using: &random)
        note("read \(count) at \(offset) of \(handle.id)")
        let read = try await expect(nil) { try await self.read(handle.id, at: offset, count: count) }
        try check(read, is: Array(bytes.dropFirst(offset).prefix(count)), "bytes")
    }

    private func truncateHandle() async throws {
        guard let handle = handles.randomElement(using: &random), let bytes = handle.node.bytes else { return }
        let size = Int.random(in: 0...bytes.count + 300, using: &random)
        guard let (path, _) = tree.all().first(where: { $0.node === handle.node }) else { return }
        note("truncate \(path) by \(handle.id) to \(size)")
        var changes = AttributeChanges()
        changes.size = Int64(size)
        let answer = try await expect(nil) {
            try await self.files.setAttributes(of: try await self.inode(path), to: changes, handle: handle.id)
        }
        handle.node.truncate(to: size)
        try check(answer?.attributes.size, is: Int64(size), "size")
    }

    private func synchronize() async throws {
        guard let handle = handles.randomElement(using: &random) else { return }
        note("fsync \(handle.id)")
        _ = try await expect(nil) { try await self.files.synchronize(handle.id) }
    }

    private func close() async throws {
        guard !handles.isEmpty else { return }
        let handle = handles.remove(at: Int.random(in: 0..<handles.count, using: &random))
        note("close \(handle.id)")
        _ = try await expect(nil) { try await self.files.flush(handle.id) }
        files.release(handle.id)
    }

    // MARK: Names

    private func truncatePath() async throws {
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

    private func makeFolder() async throws {
        guard let (folder, name, path) = anyPlace(), path.count < Self.deepest else { return }
        note("mkdir \(path)")
        let parent = try await inode(path.dropLast())
        let made = try await expect(folder.children?[name] == nil ? nil : "exists") {
            try await self.files.makeDirectory(EntryName(name), in: parent, permissions: 0o755)
        }
        guard let made else { return }
        remember(made)
        folder.set(name, ReferenceNode(.folder([:]), permissions: 0o755))
    }

    private func makeLink() async throws {
        guard let (folder, name, path) = anyPlace() else { return }
        let target = Array("../\(Self.names.randomElement(using: &random) ?? "")".utf8)
        note("symlink \(path)")
        let parent = try await inode(path.dropLast())
        let made = try await expect(folder.children?[name] == nil ? nil : "exists") {
            try await self.files.makeSymbolicLink(EntryName(name), in: parent, target: target)
        }
        guard let made else { return }
        remember(made)
        folder.set(name, ReferenceNode(.link(target), permissions: 0o777))
    }

    private func rename() async throws {
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
        let renamed: Void? = try await expect(expected) {
            try await self.files.rename(
                EntryName(source.last ?? ""), in: from, to: EntryName(name), in: to, replaces: replaces)
        }
        guard renamed != nil else { return }
        tree.node(source.dropLast())?.set(source.last ?? "", nil)
        folder.set(name, node)
    }

    private func unlink() async throws {
        guard let (path, node) = anything(), !node.isFolder else { return }
        note("unlink \(path)")
        let parent = try await inode(path.dropLast())
        _ = try await inode(path)
        _ = try await expect(nil) { try await self.files.unlink(EntryName(path.last ?? ""), in: parent) }
        tree.node(path.dropLast())?.set(path.last ?? "", nil)
    }

    private func removeFolder() async throws {
        guard let (path, node) = anything(), let children = node.children else { return }
        note("rmdir \(path)")
        let parent = try await inode(path.dropLast())
        _ = try await inode(path)
        let removed: Void? = try await expect(children.isEmpty ? nil : "directoryNotEmpty") {
            try await self.files.removeDirectory(EntryName(path.last ?? ""), in: parent)
        }
        if removed != nil { tree.node(path.dropLast())?.set(path.last ?? "", nil) }
    }

    private func setTimesOrMode() async throws {
        guard let (path, node) = anything(), node.bytes != nil || node.isFolder else { return }
        var changes = AttributeChanges()
        if random.chance(1, in: 2) {
            node.permissions = [0o600, 0o644, 0o755].randomElement(using: &random) ?? 0
            changes.permissions = node.permissions
        } else {
            let time = Timestamp(
                seconds: Int64.random(in: 1..<2_000_000_000, using: &random),
                nanoseconds: Int32.random(in: 0..<1_000_000_000, using: &random))
            if !node.isFolder { node.modified = time }
            changes.modified = .at(time)
        }
        note("setattr \(path) \(changes)")
        _ = try await expect(nil) {
            try await self.files.setAttributes(of: try await self.inode(path), to: changes, handle: nil)
        }
        try await compare(path, node)
    }

    private func list() async throws {
        guard let (path, node) = anything(), let children = node.children else { return }
        note("list \(path)")
        try check(try await names(in: path).sorted(), is: children.keys.sorted(), "names")
    }

    private func look() async throws {
        guard let (folder, name, path) = anyPlace() else { return }
        note("look \(path)")
        guard let node = folder.children?[name] else {
            let parent = try await inode(path.dropLast())
            if case .found(let entry) = try await files.lookup(EntryName(name), in: parent) {
                remember(entry)
                throw difference("\(path) should not be there")
            }
            return
        }
        try await compare(path, node)
    }

    // MARK: Comparing

    private func compare(_ path: [String], _ node: ReferenceNode) async throws {
        let inode = try await inode(path)
        let attributes = try await files.attributes(of: inode).attributes
        switch node.content {
        case .folder: try check(attributes.kind, is: .directory, "kind of \(path)")
        case .file(let bytes):
            try check(attributes.kind, is: .file, "kind of \(path)")
            try check(attributes.size, is: Int64(bytes.count), "size of \(path)")
            if let modified = node.modified { try check(attributes.modified, is: modified, "time of \(path)") }
        case .link(let target):
            try check(attributes.kind, is: .symbolicLink, "kind of \(path)")
            try check(try await files.target(ofSymbolicLink: inode), is: target, "target of \(path)")
        }
        if node.bytes != nil || node.isFolder {
            try check(attributes.permissions, is: node.permissions, "permissions of \(path)")
        }
    }

    private func compareAll() async throws {
        note("compare")
        for (path, node) in tree.all() {
            try await compare(path, node)
            if let children = node.children {
                try check(try await names(in: path).sorted(), is: children.keys.sorted(), "names in \(path)")
            }
            if let bytes = node.bytes {
                let opened = try await files.open(
                    try await inode(path), OpenMode(reads: true, writes: false, truncates: false))
                let read = try await read(opened.handle, at: 0, count: max(1, bytes.count + 10))
                files.release(opened.handle)
                try check(read, is: bytes, "bytes of \(path)")
            }
        }
        forgetSome()
    }

    /// Ends the file system and begins anew over the same bucket, which must hold the files and nothing else.
    private func remount() async throws {
        while !handles.isEmpty { try await close() }
        note("remount")
        try check(await files.shutDown(), is: [], "names not stored")
        let files = tree.all().filter { !$0.node.isFolder }
        let objects = store.names.filter { $0.bytes.last != UInt8(ascii: "/") }
        try check(
            objects.map(\.bytes),
            is: files.map { Array($0.path.joined(separator: "/").utf8) }.sorted {
                $0.lexicographicallyPrecedes($1)
            }, "objects")
        for (path, node) in files {
            guard let bytes = node.bytes else { continue }
            try check(store.bytes(of: ObjectName(path.joined(separator: "/"))), is: bytes, "object \(path)")
        }
        lookups = []
        self.files = Self.fileSystem(store, directory, time)
        try await compareAll()
    }

    private func check<Value: Equatable>(_ value: Value, is expected: Value, _ what: String) throws {
        guard value != expected else { return }
        throw difference("\(what): \("\(value)".prefix(300)) instead of \("\(expected)".prefix(300))")
    }

    private func difference(_ text: String) -> Difference {
        Difference(
            description: "seed \(seed), operation \(done): \(text)\n" + recent.suffix(60).joined(separator: "\n"))
    }

    // MARK: Calls

    /// Runs `body`; nil if it failed as expected.
    private func expect<Value>(
        _ word: String?, _ body: () async throws -> Value
    ) async throws -> Value? {
        do {
            let value = try await body()
            guard let word else { return value }
            throw difference("should have failed as \(word)")
        } catch let error as FileSystemError {
            guard error.word == word else { throw difference("failed: \(error), not \(word ?? "at all")") }
            return nil
        }
    }

    private func inode(_ path: some Sequence<String>) async throws -> InodeNumber {
        var inode = InodeNumber.root
        for part in path {
            guard case .found(let entry) = try await files.lookup(EntryName(part), in: inode) else {
                throw difference("\(part) of \(Array(path)) is not there")
            }
            remember(entry)
            inode = entry.inode
        }
        return inode
    }

    private func read(_ handle: HandleID, at offset: Int, count: Int) async throws -> [UInt8] {
        let files = files
        let result: Result<[UInt8], FileSystemError> = await withCheckedContinuation { continuation in
            files.read(handle, at: Int64(offset), count: count) { result in
                continuation.resume(
                    returning: result.map { read in read.pieces.flatMap { piece in unsafe Array(piece.bytes) } })
            }
        }
        return try result.get()
    }

    private func names(in path: [String]) async throws -> [String] {
        let handle = try await files.openDirectory(try await inode(path))
        defer { files.releaseDirectory(handle) }
        let found = Lock((names: [String](), cookie: UInt64(0)))
        while true {
            let before = found.withLock { $0.names.count }
            try await files.readDirectory(handle, after: found.withLock { $0.cookie }, withAttributes: false) { entry in
                let (name, cookie) = (entry.name.description, entry.cookie)
                found.withLock { $0 = ($0.names + [name], cookie) }
                return true
            }
            if found.withLock({ $0.names.count }) == before { break }
        }
        return found.withLock { $0.names }.filter { $0 != "." && $0 != ".." }
    }

    private func remember(_ entry: Entry) {
        lookups.append((entry.inode, entry.attributes.kind == .directory))
    }

    /// Sometimes the kernel forgets everything it may, sometimes nothing. What is open it keeps, and the folders above.
    private func forgetSome() {
        guard random.chance(1, in: 3) else { return }
        let open = Set(handles.map(\.inode))
        let kept = lookups.filter { open.contains($0.inode) || $0.isFolder && !open.isEmpty }
        let gone = lookups.filter { !(open.contains($0.inode) || $0.isFolder && !open.isEmpty) }
        for lookup in gone { files.forget(lookup.inode, lookups: 1) }
        lookups = kept
    }

    // MARK: Choosing

    private func note(_ line: String) {
        recent.append("  \(done): \(line)")
        if recent.count > 400 { recent.removeFirst(300) }
    }

    /// A name that may be taken or not, in a folder that is there.
    private func anyPlace() -> (folder: ReferenceNode, name: String, path: [String])? {
        let folders = [([String](), tree.root)] + tree.all().filter { $0.node.isFolder && $0.path.count < Self.deepest }
        guard let (path, folder) = folders.randomElement(using: &random),
            let name = Self.names.randomElement(using: &random)
        else { return nil }
        return (folder, name, path + [name])
    }

    private func anything() -> (path: [String], node: ReferenceNode)? { tree.all().randomElement(using: &random) }

    private func anyFile() -> (path: [String], node: ReferenceNode)? {
        tree.all().filter { $0.node.bytes != nil }.randomElement(using: &random)
    }
}

extension SplitMix64 {
    fileprivate mutating func chance(_ share: Int, in whole: Int) -> Bool {
        Int.random(in: 0..<whole, using: &self) < share
    }
}
