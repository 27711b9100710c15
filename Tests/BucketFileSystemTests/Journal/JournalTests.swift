import Glibc
import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// The journal by itself: what was put in is there again after the process was gone.
struct JournalTests {
    private let directory = temporaryDirectory()
    private let owner = JournalOwner(bucket: "b", endpoint: "http://127.0.0.1:1")

    private func content(
        _ journal: Journal, _ object: String = "a/b", _ state: JournalEntry.State = .open
    ) -> Journal.Content {
        Journal.Content(
            id: journal.nextID(), state: state,
            place: Journal.Place(
                object: ObjectName(object), base: .generation(ObjectGeneration(7), Metageneration(2)),
                headers: ObjectHeaders(contentType: "text/plain", custom: ["k": "v"])),
            file: "staged-1", size: 10, baseLimit: 5, checksum: 9, changes: MetadataPatch(custom: ["k": .remove]),
            time: Timestamp(seconds: 1_700_000_000))
    }

    /// As after `kill -9`: nothing was closed in order, and the lock is gone.
    private func reopened(_ journal: Journal) throws -> Journal {
        journal.directory.release()
        return try Journal(opening: try #require(try JournalDirectory.open(journal.directory.path)))
    }

    @Test func anEntryIsReadBackAsItWasPut() throws {
        let journal = try Journal(in: directory.path, for: owner)
        let extents = [
            StagedExtents.Extent(range: 0..<3, checksum: 4), StagedExtents.Extent(range: 5..<12, checksum: nil),
        ]
        try journal.put(content(journal), extents)

        let (entries, damaged) = try reopened(journal).entries()

        #expect(damaged.isEmpty)
        let entry = try #require(entries.first)
        #expect(entries.count == 1)
        #expect(entry.object == ObjectName("a/b"))
        #expect(entry.base == .generation(ObjectGeneration(7), Metageneration(2)))
        #expect(entry.state == .open)
        guard case .content(let staged) = entry.purpose else { throw Wrong() }
        #expect(staged.extents == extents)
        #expect(staged.size == 12, "a write beyond the size grows the file without another row")
        #expect(staged.baseLimit == 5)
        #expect(staged.checksum == 9)
        #expect(staged.headers == ObjectHeaders(contentType: "text/plain", custom: ["k": "v"]))
        #expect(staged.changes == MetadataPatch(custom: ["k": .remove]))
    }

    private struct Wrong: Error {}

    @Test func aNotedChangeOfMetadataIsReadBack() throws {
        let journal = try Journal(in: directory.path, for: owner)
        var patch = MetadataPatch(custom: ["a": .set("1"), "b": .remove])
        patch.cacheControl = .set("no-store")
        let id = try journal.note(patch, of: ObjectName("x"), base: .absent, time: Timestamp(seconds: 1))
        patch.contentType = .set("text/plain")
        try journal.update(id, patch, of: ObjectName("y"), base: .absent, time: Timestamp(seconds: 1))

        let entries = try reopened(journal).entries().entries

        #expect(entries.map(\.object) == [ObjectName("y")])
        guard case .metadata(let found)? = entries.first?.purpose else { throw Wrong() }
        #expect(found == patch)
    }

    @Test func whatSupersedesAnEntryRemovesItInTheSameMoment() throws {
        let journal = try Journal(in: directory.path, for: owner)
        let first = content(journal, "n", .sealed)
        let second = content(journal, "n", .sealed)
        try journal.put(first, [StagedExtents.Extent(range: 0..<1, checksum: 1)])
        try journal.put(second, [StagedExtents.Extent(range: 0..<2, checksum: 2)], removing: [first.id])
        #expect(try journal.entries().entries.map(\.id) == [second.id])
    }

    @Test func twoMountsNeverShareAJournal() throws {
        let first = try Journal(in: directory.path, for: owner)
        let second = try Journal(in: directory.path, for: owner)
        #expect(first.directory.path != second.directory.path)
        #expect(try JournalDirectory.abandoned(in: directory.path, of: owner).isEmpty)
        #expect(try JournalDirectory.open(first.directory.path) == nil)
    }

    @Test func onlyTheSameBucketsAbandonedJournalsAreFound() throws {
        let other = JournalOwner(bucket: "b", endpoint: "http://127.0.0.1:2")
        for owner in [owner, other, JournalOwner(bucket: "bb", endpoint: owner.endpoint)] {
            let journal = try Journal(in: directory.path, for: owner)
            try journal.put(content(journal), [])
            journal.directory.release()
        }
        let found = try JournalDirectory.abandoned(in: directory.path, of: owner)
        #expect(try found.map { try Journal(opening: $0).owner } == [owner])
    }

    @Test func aJournalOfAnotherVersionIsLeftAlone() throws {
        let journal = try Journal(in: directory.path, for: owner)
        try journal.put(content(journal), [])
        let database = try JournalDatabase(path: journal.directory.databasePath, .mount)
        try database.run("PRAGMA user_version = 99")

        let error = #expect(throws: FileSystemError.self) { _ = try reopened(journal) }

        guard case .staging(let text)? = error else { throw Wrong() }
        #expect(text.contains("version 99"))
    }

    @Test func rowsThatMakeNoSenseAreToldAndNotBelieved() throws {
        let journal = try Journal(in: directory.path, for: owner)
        for _ in 0..<5 { try journal.put(content(journal), [StagedExtents.Extent(range: 0..<4, checksum: 4)]) }
        let database = try JournalDatabase(path: journal.directory.databasePath, .mount)
        for damage in [
            "UPDATE extents SET \"end\" = -1 WHERE entry = 1", "UPDATE entries SET file = '../x' WHERE id = 2",
            "UPDATE entries SET fields = x'3d0900000061' WHERE id = 3", "UPDATE entries SET state = 77 WHERE id = 4",
        ] { try database.run(damage) }

        let (entries, damaged) = try journal.entries()

        #expect(entries.map(\.id.rawValue) == [5])
        #expect(damaged.count == 4)
    }

    @Test func anEmptyJournalGoesWithItsDirectory() throws {
        let journal = try Journal(in: directory.path, for: owner)
        let entry = content(journal)
        try journal.put(entry, [])
        #expect(!journal.removeIfEmpty())
        try journal.remove([entry.id])
        #expect(journal.removeIfEmpty())
        #expect(try JournalDirectory.paths(in: directory.path, of: nil).isEmpty)
    }
}
