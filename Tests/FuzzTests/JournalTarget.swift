import Glibc
import ObjectStore
import TestSupport

@testable import BucketFileSystem

/// A journal after a crash, or after somebody wrote into it: opening it and reading its entries refuses or answers. An
/// input is the database itself, or what became of one: changes of the database or its log, each a byte that says what,
/// two that say where, and for new bytes one that counts them.
enum JournalTarget {
    private static let parent = temporaryDirectory()
    private static let whole = TornJournal()

    static func run(_ input: [UInt8]) -> Bool {
        let path = "\(parent.path)/bucket-0.fuzzed"
        unsafe mkdir(path, 0o700)
        let database = "\(path)/\(JournalDirectory.databaseName)"
        for suffix in ["-wal", "-shm", "-journal"] { unsafe unlink(database + suffix) }
        write([UInt8](repeating: 1, count: 4_096), to: "\(path)/staged-1")
        if input.starts(with: "SQLite".utf8) {
            write(input, to: database)
        } else {
            let torn = whole.torn(by: input)
            write(torn.database, to: database)
            write(torn.log, to: database + "-wal")
        }
        // What is thrown is the outcome that most inputs deserve.
        do throws(FileSystemError) {
            var count = 0
            for directory in try JournalDirectory.abandoned(in: parent.path, of: nil) {
                _ = try JournalView(directory.path)?.unsaved
                let journal = try Journal(opening: directory)
                for entry in try journal.entries().entries {
                    check(entry)
                    checkWhole(entry, in: directory)
                    count += 1
                }
            }
            return count > 0
        } catch { return false }
    }

    /// What recovery relies on.
    static func check(_ entry: JournalEntry) {
        _ = (entry.base.precondition, entry.time.rfc3339(), "\(entry.object)")
        guard case .content(let content) = entry.purpose else { return }
        precondition(content.size >= 0 && content.baseLimit >= 0, "\(entry)")
        precondition(!content.file.contains("/"), "\(entry) leads out of the journal's directory")
        var end: Int64 = 0
        for extent in content.extents {
            precondition(extent.range.lowerBound >= end && !extent.range.isEmpty, "\(extent)")
            end = extent.range.upperBound
        }
        precondition(content.size >= end, "\(content)")
        _ = content.showsBase
    }

    /// Putting the bytes together without a bucket refuses, or answers so many.
    private static func checkWhole(_ entry: JournalEntry, in directory: JournalDirectory) {
        guard case .content(let content) = entry.purpose, content.size <= 1 << 20 else { return }
        let source = WaitingThread.wait { _ in try? await content.whole(in: directory, over: nil) }
        precondition(source?.size ?? content.size == content.size, "\(content)")
    }
}

/// A sound journal as a crash leaves it: the last changes are in the log alone.
private struct TornJournal {
    private var database: [UInt8] = []
    private var log: [UInt8] = []

    init() {
        let parent = temporaryDirectory()
        do throws(FileSystemError) {
            let journal = try Journal(
                in: parent.path, for: JournalOwner(bucket: "bucket", endpoint: "http://127.0.0.1:1"))
            for number in 1...3 { try Self.fill(journal, Int64(number)) }
            let path = "\(journal.directory.path)/\(JournalDirectory.databaseName)"
            (database, log) = (readFile(path), readFile(path + "-wal"))
        } catch { preconditionFailure("\(error)") }
    }

    private static func fill(_ journal: Journal, _ size: Int64) throws(FileSystemError) {
        let place = Journal.Place(
            object: ObjectName("folder/name"), base: .generation(ObjectGeneration(7), Metageneration(1)),
            headers: ObjectHeaders(contentType: "text/plain", custom: ["key": "value"]))
        let extents = [StagedExtents.Extent(range: 0..<size, checksum: nil)]
        try journal.put(
            Journal.Content(
                id: journal.nextID(), state: .open, place: place, file: "staged-1", size: size, baseLimit: 0,
                checksum: nil, changes: MetadataPatch(), time: Timestamp(seconds: 1_767_225_600)), extents)
        var patch = MetadataPatch(custom: ["key": .remove])
        patch.cacheControl = .set("no-store")
        _ = try journal.note(
            patch, of: ObjectName("other"), base: .absent, time: Timestamp(seconds: 1_767_225_600, nanoseconds: 5))
    }

    func torn(by input: [UInt8]) -> (database: [UInt8], log: [UInt8]) {
        var (database, log) = (database, log)
        var rest = input[...]
        while let what = rest.popFirst() {
            let place = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(2)
            let isLog = what & 1 != 0
            if what & 2 != 0 {
                if isLog { log = Array(log.prefix(place)) } else { database = Array(database.prefix(place)) }
                continue
            }
            let count = Int(rest.popFirst() ?? 0)
            let bytes = rest.prefix(count)
            rest = rest.dropFirst(count)
            if isLog { Self.put(bytes, into: &log, at: place) } else { Self.put(bytes, into: &database, at: place) }
        }
        return (database, log)
    }

    private static func put(_ new: ArraySlice<UInt8>, into bytes: inout [UInt8], at place: Int) {
        guard place < bytes.count else { return }
        let fitting = new.prefix(bytes.count - place)
        bytes.replaceSubrange(place..<place + fitting.count, with: fitting)
    }
}
