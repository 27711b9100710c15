import Locking
import Logging
import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// Operations from a seed, done to a file system and to a `ReferenceTree`, as a kernel would call them: what a kernel
/// refuses by itself is not asked for. Each operation has random numbers of its own, made of the seed and its number,
/// so that a run can leave some out (`ShortestFailure`).
final class RandomOperations {
    struct Difference: Error, CustomStringConvertible {
        let seed: UInt64
        let operation: Int
        let text: String
        let history: [String]
        var description: String { "seed \(seed), operation \(operation): \(text)\n" + history.joined(separator: "\n") }
    }

    struct OpenedHere {
        let id: HandleID
        let inode: InodeNumber
        let node: ReferenceNode
    }

    /// What mounts and buckets differ in. The seed says which, so that a few seeds try all.
    struct Variant {
        /// What goes on in the background is waited for after each operation: the run is the same every time.
        let isRepeatable: Bool
        let writesBack: Bool
        /// Lists tell names alone, and there are no preconditions.
        let listsNames: Bool
        /// Everything that is done for large files is done for small ones.
        let isSmall: Bool
        let hasLargeFolders: Bool

        init(seed: UInt64) {
            isRepeatable = (seed / 4).isMultiple(of: 2)
            writesBack = seed % 4 == 0
            listsNames = seed % 4 == 3
            isSmall = seed % 2 == 0
            hasLargeFolders = !(seed / 2).isMultiple(of: 2)
        }

        var abilities: StoreAbilities {
            StoreAbilities(listsMetadata: !listsNames, checksPreconditions: !listsNames, composes: !listsNames)
        }

        var configuration: Configuration {
            var configuration = Configuration()
            configuration.writesBack = writesBack
            // A name's past is more than the model knows of.
            configuration.succession = .zero
            if hasLargeFolders { configuration.listPageSize = 3 }
            guard isSmall else { return configuration }
            configuration.appendLimit = 1_000
            configuration.largestPrefetch = 2_000
            configuration.largestFetchForHolders = 1_000
            configuration.streamThreshold = 3_000
            configuration.streamPiece = 1_000
            return configuration
        }
    }

    let seed: UInt64
    let variant: Variant
    var random: SplitMix64
    let store: InMemoryStore
    private let directory = temporaryDirectory()
    /// A bucket that never fails gives no reason to speak of an error.
    private let log = Log(level: .info)
    private(set) var time = ModelTime()
    var files: FileSystem
    let tree = ReferenceTree()
    var handles: [OpenedHere] = []
    private var lookups: [(inode: InodeNumber, isFolder: Bool)] = []
    private var history: [String] = []
    private var number = 0

    /// Few names, so that operations meet.
    static let names = ["a", "b", "c.txt", "e\u{301}", "%2", "d"]
    static let sizes = [0, 1, 17, 100, 1_000, 5_000]
    static let mostHandles = 4
    static let deepest = 4
    /// More than so many files and folders would meet too seldom.
    private static let mostNodes = 60

    init(seed: UInt64) {
        self.seed = seed
        variant = Variant(seed: seed)
        random = SplitMix64(seed: seed)
        store = InMemoryStore(abilities: variant.abilities)
        files = Self.fileSystem(store, directory, time, variant, log)
    }

    deinit { time.end() }

    private static func fileSystem(
        _ store: InMemoryStore, _ directory: TemporaryDirectory, _ time: ModelTime, _ variant: Variant, _ log: Log
    ) -> FileSystem {
        let journal = try! Journal(in: directory.path, for: JournalOwner(bucket: "test", endpoint: "http://test"))
        return FileSystem(
            store: store, configuration: variant.configuration, journal: journal, kernelCache: NoKernel(),
            log: log.logger, clock: time.clock)
    }

    /// - Throws: `Difference` at the first answer that is not the reference's.
    func run(_ numbers: some Sequence<Int>) async throws {
        for number in numbers {
            self.number = number
            random = SplitMix64(seed: seed &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(number))
            try await step()
            if variant.isRepeatable { try await settle() }
            forgetSome()
        }
        number += 1
        try await remount()
    }

    private func step() async throws {
        if tree.all().count > Self.mostNodes, random.chance(1, in: 2) {
            return random.chance(2, in: 3) ? try await unlink() : try await removeFolder()
        }
        switch Int.random(in: 0..<2_000, using: &random) {
        case 0..<260: try await create()
        case 260..<400: try await openExisting()
        case 400..<760: try await writeSome()
        case 760..<940: try await readSome()
        case 940..<1_040: try await truncateHandle()
        case 1_040..<1_160: try await close()
        case 1_160..<1_190: try await closeWithMappedPages()
        case 1_190..<1_260: try await truncatePath()
        case 1_260..<1_340: try await makeFolder()
        case 1_340..<1_390: try await makeLink()
        case 1_390..<1_510: try await rename()
        case 1_510..<1_580: try await unlink()
        case 1_580..<1_620: try await removeFolder()
        case 1_620..<1_690: try await setTimesOrModeOrOwner()
        case 1_690..<1_790: try await changeExtendedAttribute()
        case 1_790..<1_830: try await copy()
        case 1_830..<1_860: try await list()
        case 1_860..<1_890: try await synchronize()
        case 1_890..<1_920: await wake()
        case 1_920: time.pass(seconds: 3)
        case 1_921: time.pass(seconds: 120)
        case 1_922..<1_926: try await compareAll()
        case 1_926: try await remount()
        default: try await look()
        }
    }

    // MARK: Time

    /// What has waited for its moment is sent.
    private func wake() async {
        note("wake")
        time.wakeAll()
    }

    /// Until nothing goes on in the background. Each node that is pinned by then is so by somebody who sleeps, or
    /// because it is being copied.
    private func settle() async throws {
        for _ in 0..<1_000_000 {
            await files.afterwork.wait()
            let pins = files.namespace.withLock { $0.allNodes.reduce(0) { $0 + $1.pins } }
            if pins == time.sleeperCount + files.copies.withLock({ $0.count }) { return }
            await Task.yield()
        }
        throw difference("a node is pinned for nobody")
    }

    /// Ends the file system and begins anew over the same bucket, which must hold the files and nothing else.
    private func remount() async throws {
        while !handles.isEmpty { try await close() }
        note("remount")
        let kept = await files.shutDown()
        try check(log.errors, is: [], "log")
        try check(kept, is: [], "names not stored (\(try files.journal.entries().entries))")
        let files = tree.all().filter { !$0.node.isFolder }
        let objects = store.names.filter { $0.bytes.last != UInt8(ascii: "/") }
        try check(
            objects.map(\.description),
            is: files.map { Array($0.path.joined(separator: "/").utf8) }.sorted {
                $0.lexicographicallyPrecedes($1)
            }.map { ObjectName($0).description }, "objects")
        for (path, node) in files {
            guard let bytes = node.bytes else { continue }
            try check(store.bytes(of: ObjectName(path.joined(separator: "/"))), is: bytes, "object \(path)")
        }
        lookups = []
        time.end()
        time = ModelTime(after: time)
        self.files = Self.fileSystem(store, directory, time, variant, log)
        try await compareAll()
    }

    // MARK: Calls

    /// Runs `body`; nil if it failed as expected.
    func expect<Value>(
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

    func inode(_ path: some Sequence<String>) async throws -> InodeNumber {
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

    func remember(_ entry: Entry) {
        lookups.append((entry.inode, entry.attributes.kind == .directory))
    }

    /// Sometimes the kernel forgets everything it may, sometimes nothing. What is open it keeps, and the folders above.
    func forgetSome() {
        guard random.chance(1, in: 3) else { return }
        let open = Set(handles.map(\.inode))
        let kept = lookups.filter { open.contains($0.inode) || $0.isFolder && !open.isEmpty }
        let gone = lookups.filter { !(open.contains($0.inode) || $0.isFolder && !open.isEmpty) }
        for lookup in gone { files.forget(lookup.inode, lookups: 1) }
        lookups = kept
    }

    func check<Value: Equatable>(_ value: Value, is expected: Value, _ what: String) throws {
        guard value != expected else { return }
        throw difference("\(what): \("\(value)".prefix(300)) instead of \("\(expected)".prefix(300))")
    }

    func difference(_ text: String) -> Difference {
        Difference(seed: seed, operation: number, text: text, history: history.suffix(60) + log.lines.suffix(20))
    }

    func note(_ line: String) {
        history.append("  \(number): \(line)")
        if history.count > 400 { history.removeFirst(300) }
    }

    // MARK: Choosing

    /// A name that may be taken or not, in a folder that is there.
    func anyPlace() -> (folder: ReferenceNode, name: String, path: [String])? {
        let folders = [([String](), tree.root)] + tree.all().filter { $0.node.isFolder && $0.path.count < Self.deepest }
        guard let (path, folder) = folders.randomElement(using: &random),
            let name = Self.names.randomElement(using: &random)
        else { return nil }
        return (folder, name, path + [name])
    }

    func anything() -> (path: [String], node: ReferenceNode)? { tree.all().randomElement(using: &random) }

    func anyFile() -> (path: [String], node: ReferenceNode)? {
        tree.all().filter { $0.node.bytes != nil }.randomElement(using: &random)
    }
}

extension SplitMix64 {
    mutating func chance(_ share: Int, in whole: Int) -> Bool {
        Int.random(in: 0..<whole, using: &self) < share
    }
}
