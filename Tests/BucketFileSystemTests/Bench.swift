import FoundationEssentials
import Glibc
import Locking
import Logging
import ObjectStore
import TestSupport

@testable import BucketFileSystem

/// A file system over a bucket in memory, with a clock that the test moves; the calls a kernel would make.
final class Bench: Sendable {
    let store: InMemoryStore
    let failing: FailingStore<InMemoryStore>
    let damaging: DamagingStore<FailingStore<InMemoryStore>>
    let files: FileSystem
    let journal: Journal
    let kernel = Kernel()
    private let directory: TemporaryDirectory

    static let owner = JournalOwner(bucket: "test", endpoint: "http://test")

    convenience init(
        _ configure: (inout Configuration) -> Void = { _ in }, objects: [(String, String)] = [],
        store: InMemoryStore = InMemoryStore()
    ) {
        for (name, text) in objects { store.put(name, Array(text.utf8)) }
        self.init(store, in: temporaryDirectory(), configure)
    }

    /// Another mount of the same bucket.
    convenience init(over store: InMemoryStore, _ configure: (inout Configuration) -> Void = { _ in }) {
        self.init(store, in: temporaryDirectory(), configure)
    }

    private init(_ store: InMemoryStore, in directory: TemporaryDirectory, _ configure: (inout Configuration) -> Void) {
        self.store = store
        self.directory = directory
        journal = try! Journal(in: directory.path, for: Self.owner)
        var configuration = Configuration()
        // What waits is sent when the test says so.
        configuration.metadataDelay = .seconds(3_600)
        configure(&configuration)
        failing = FailingStore(store)
        damaging = DamagingStore(failing)
        let time = Time()
        self.time = time
        files = FileSystem(
            store: damaging, configuration: configuration, journal: journal, kernelCache: kernel,
            log: log.logger,
            clock: Clock(
                now: { time.now() },
                today: { Timestamp(seconds: 1_700_000_000 + Int64(time.now().nanoseconds / 1_000_000_000)) }))
    }

    /// The next mount of the bucket after `kill -9` at this moment: what was on the disk is there, nothing else.
    /// - Parameter damage: what else happened to the journal's directory.
    func afterKill(_ damage: (_ directory: String) throws -> Void = { _ in }) throws -> Bench {
        let copy = temporaryDirectory()
        let left = copy.path + "/" + (journal.directory.path.split(separator: "/").last.map(String.init) ?? "")
        try FileManager.default.copyItem(atPath: journal.directory.path, toPath: left)
        try damage(left)
        return Bench(store, in: copy) { _ in }
    }

    /// Brings home what the mount before has left, and returns when all is decided.
    func recover() async throws {
        files.recover(try Recovery.abandonedJournals(in: directory.path, of: Self.owner, log: files.log))
        await files.afterwork.wait()
    }

    private let time: Time
    private let log = Log(level: .debug)
    var lines: [String] { log.lines }

    private final class Time: Sendable {
        let nanoseconds = Lock<UInt64>(1_000_000_000_000)
        /// Each look is a little later than the one before, as on a real clock.
        func now() -> Instant {
            nanoseconds.withLock { value in
                value += 1
                return Instant(nanoseconds: value)
            }
        }
    }

    func advance(seconds: UInt64) { time.nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }

    // MARK: Paths

    struct Missing: Error {}

    /// Walks `path` as a kernel does; gives back the lookups on the way, and keeps the last one's.
    func find(_ path: String) async throws -> Entry {
        var inode = InodeNumber.root
        var entry: Entry?
        for part in path.split(separator: "/") {
            guard case .found(let found) = try await files.lookup(EntryName(String(part)), in: inode) else {
                throw Missing()
            }
            entry = found
            inode = found.inode
        }
        guard let entry else { throw Missing() }
        return entry
    }

    func folder(of path: String) async throws -> (inode: InodeNumber, name: EntryName) {
        let parts = path.split(separator: "/").map(String.init)
        let parent = parts.dropLast().joined(separator: "/")
        return (parent.isEmpty ? .root : try await find(parent).inode, EntryName(parts.last!))
    }

    func exists(_ path: String) async -> Bool { (try? await find(path)) != nil }

    /// The kernel needs its memory: it forgets what it need not know, folders before what is in them.
    func forgetAll() {
        let known = files.namespace.withLock { space in
            space.allNodes.filter { $0.parent != nil }.map { ($0.number, $0.lookups) }
        }
        for (inode, lookups) in known.sorted(by: { $0.0.rawValue < $1.0.rawValue }) {
            files.forget(inode, lookups: lookups)
        }
    }

    // MARK: Whole operations

    func read(_ path: String) async throws -> String {
        let entry = try await find(path)
        let file = try await files.open(entry.inode, OpenMode(reads: true, writes: false, truncates: false))
        defer { files.release(file.handle) }
        return try await read(file.handle)
    }

    func read(_ handle: HandleID, at offset: Int64 = 0, count: Int = 1 << 20) async throws -> String {
        let result: Result<[UInt8], FileSystemError> = await withCheckedContinuation { continuation in
            files.read(handle, at: offset, count: count) { result in
                continuation.resume(
                    returning: result.map { read in
                        read.pieces.flatMap { piece in unsafe Array(piece.bytes) }
                    })
            }
        }
        return String(decoding: try result.get(), as: UTF8.self)
    }

    func write(_ path: String, _ text: String, appends: Bool = false) async throws {
        let handle = try await openForWriting(path, truncates: !appends)
        try write(handle, text, appends: appends)
        try await close(handle)
    }

    func openForWriting(_ path: String, truncates: Bool = false) async throws -> HandleID {
        let mode = OpenMode(reads: true, writes: true, truncates: truncates)
        let (parent, name) = try await folder(of: path)
        if case .found(let entry) = try await files.lookup(name, in: parent) {
            return try await files.open(entry.inode, mode).handle
        }
        return try await files.create(name, in: parent, permissions: 0o644, mode, exclusively: false).file.handle
    }

    func write(_ handle: HandleID, _ text: String, at offset: Int64 = 0, appends: Bool = false) throws {
        var text = text
        try text.withUTF8 { bytes in
            try unsafe files.write(handle, at: offset, UnsafeRawBufferPointer(bytes), appends: appends)
        }
    }

    func close(_ handle: HandleID) async throws {
        defer { files.release(handle) }
        try await files.flush(handle)
    }

    func makeDirectory(_ path: String) async throws {
        let (parent, name) = try await folder(of: path)
        _ = try await files.makeDirectory(name, in: parent, permissions: 0o755)
    }

    func unlink(_ path: String) async throws {
        let (parent, name) = try await folder(of: path)
        try await files.unlink(name, in: parent)
    }

    func removeDirectory(_ path: String) async throws {
        let (parent, name) = try await folder(of: path)
        try await files.removeDirectory(name, in: parent)
    }

    func rename(_ path: String, to newPath: String, replaces: Bool = true) async throws {
        let (parent, name) = try await folder(of: path)
        let (newParent, newName) = try await folder(of: newPath)
        try await files.rename(name, in: parent, to: newName, in: newParent, replaces: replaces)
    }

    func list(_ path: String = "") async throws -> [String] {
        let inode = path.isEmpty ? InodeNumber.root : try await find(path).inode
        let handle = try await files.openDirectory(inode)
        defer { files.releaseDirectory(handle) }
        let names = Names()
        while true {
            let before = names.count
            try await files.readDirectory(handle, after: names.cookie, withAttributes: false) { entry in
                names.add(entry)
                return true
            }
            if names.count == before { break }
        }
        return names.all.filter { $0 != "." && $0 != ".." }
    }

    private final class Names: Sendable {
        private let state = Lock((names: [String](), cookie: UInt64(0)))
        func add(_ entry: borrowing DirectoryEntry) {
            let (name, cookie) = (entry.name.description, entry.cookie)
            state.withLock { state in
                state.names.append(name)
                state.cookie = cookie
            }
        }
        var count: Int { state.withLock { $0.names.count } }
        var cookie: UInt64 { state.withLock { $0.cookie } }
        var all: [String] { state.withLock { $0.names } }
    }

    /// What the bucket has of `name`, as text.
    func stored(_ name: String) -> String? {
        store.bytes(of: ObjectName(name)).map { String(decoding: $0, as: UTF8.self) }
    }
}

struct NoKernel: KernelCache {
    func invalidate(_ inode: InodeNumber) {}
    func invalidate(_ name: EntryName, in parent: InodeNumber) {}
    func settle() async {}
}

/// Notes which inodes it is told to forget.
final class Kernel: KernelCache {
    private let inodes = Lock<[InodeNumber]>([])

    var forgotten: [InodeNumber] { inodes.withLock { $0 } }

    func invalidate(_ inode: InodeNumber) { inodes.withLock { $0.append(inode) } }
    func invalidate(_ name: EntryName, in parent: InodeNumber) {}
    func settle() async {}
}

/// The error that `body` throws; nil when it throws none.
func failure<Value>(of body: () async throws -> Value) async -> FileSystemError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? FileSystemError
    }
}

extension FileSystemError {
    /// Which case it is, to compare with.
    var word: String { String("\(self)".prefix { $0 != "(" }) }
}
