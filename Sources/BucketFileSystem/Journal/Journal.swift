import Locking
import ObjectStore

/// What a mount has acknowledged and the bucket does not have: rows in SQLite beside the staging files, written before
/// the caller is answered (docs/JOURNAL.md). One a mount, owned by its file system; callable from any thread.
///
/// Every change is committed when its call returns, so that `kill -9` loses none. A call writes to memory of the system
/// alone (some ten microseconds), unless it is asked to be durable.
package final class Journal: Sendable {
    package let directory: JournalDirectory
    package let owner: JournalOwner
    private let database: Lock<JournalDatabase>
    private let lastID: Lock<Int64>
    /// What is done and could not be removed, for want of space on the disk. It goes with the next that can be.
    private let leftOver = Lock<[JournalEntry.ID]>([])

    /// A new, empty one.
    package convenience init(in parent: String, for owner: JournalOwner) throws(FileSystemError) {
        let directory = try JournalDirectory.make(in: parent, for: owner)
        let database = try JournalDatabase(path: directory.databasePath, .mount)
        try JournalSchema.create(in: database, for: owner)
        self.init(directory, owner, database, lastID: 0)
    }

    /// One that another mount has left behind.
    /// - Throws: `.staging` for one that cannot be read, as one of another version: it is left alone.
    package convenience init(opening directory: JournalDirectory) throws(FileSystemError) {
        let database = try JournalDatabase(path: directory.databasePath, .mount)
        let owner = try JournalSchema.check(database, directory.databasePath)
        // What was open in it is open no longer: whoever looks into it must know at once.
        try database.run("UPDATE about SET is_left = 1")
        let last = try JournalRows.lastID(database)
        self.init(directory, owner, database, lastID: last)
    }

    /// One that may be in use, to look into it alone.
    package convenience init(viewing view: JournalView) throws(FileSystemError) {
        let directory = JournalDirectory(viewing: view.path)
        self.init(directory, view.owner, try JournalDatabase(path: directory.databasePath, .reader), lastID: 0)
    }

    private init(
        _ directory: JournalDirectory, _ owner: JournalOwner, _ database: sending JournalDatabase, lastID: Int64
    ) {
        self.directory = directory
        self.owner = owner
        self.database = Lock(database)
        self.lastID = Lock(lastID)
    }

    /// Another process that finds this journal in use speaks to the mount at `path`.
    package func setMountPoint(_ path: String) throws(FileSystemError) {
        try database.withLock { (database) throws(FileSystemError) in
            let update = try database.statement("UPDATE about SET mount_point = ?")
            update.bind(1, path)
            try update.run()
        }
    }

    func nextID() -> JournalEntry.ID {
        lastID.withLock { last in
            last += 1
            return JournalEntry.ID(last)
        }
    }

    // MARK: Staged content

    /// Where a file's changes will go.
    struct Place: Sendable {
        var object: ObjectName
        var base: JournalEntry.Base
        /// The base's, or those for a new file.
        var headers: ObjectHeaders
    }

    /// All that an entry for content says, but for its extents.
    struct Content: Sendable {
        var id: JournalEntry.ID
        var state: JournalEntry.State
        var place: Place
        var file: String
        var size: Int64
        var baseLimit: Int64
        var checksum: UInt32?
        var changes: MetadataPatch
        var time: Timestamp
    }

    /// Puts an entry in, or in the place of the one it is.
    /// - Parameter removing: entries that this one supersedes: they go in the same moment.
    func put(
        _ content: Content, _ extents: [StagedExtents.Extent], removing superseded: [JournalEntry.ID] = [],
        isDurable: Bool = false
    ) throws(FileSystemError) {
        isWanted(content.id)
        try database.withLock { (database) throws(FileSystemError) in
            try database.transaction(isDurable: isDurable) { () throws(FileSystemError) in
                for id in superseded { try Self.remove(id, from: database) }
                try Self.removeExtents(of: content.id, from: database)
                try Self.put(content, into: database)
                for extent in extents { try Self.set(extent, of: content.id, in: database) }
            }
        }
    }

    /// A write of the file was staged, or is about to be.
    func apply(_ change: StagedExtents.Change, to id: JournalEntry.ID) throws(FileSystemError) {
        if change.isEmpty { return }
        try database.withLock { (database) throws(FileSystemError) in
            if change.removed.isEmpty, let extent = change.set.first, change.set.count == 1 {
                return try Self.set(extent, of: id, in: database)
            }
            try database.transaction { () throws(FileSystemError) in try Self.apply(change, to: id, in: database) }
        }
    }

    /// The file was cut or has grown.
    func resize(
        _ id: JournalEntry.ID, to size: Int64, baseLimit: Int64, _ change: StagedExtents.Change
    ) throws(FileSystemError) {
        try database.withLock { (database) throws(FileSystemError) in
            try database.transaction { () throws(FileSystemError) in
                try Self.apply(change, to: id, in: database)
                let update = try database.statement(
                    "UPDATE entries SET size = ?2, base_limit = ?3, checksum = NULL WHERE id = ?1")
                update.bind(1, id.rawValue)
                update.bind(2, size)
                update.bind(3, baseLimit)
                try update.run()
            }
        }
    }

    /// The object has another name, generation or headers now.
    /// - Parameter removing: what it has replaced.
    func move(
        _ ids: [JournalEntry.ID], to place: Place, removing replaced: [JournalEntry.ID] = []
    ) throws(FileSystemError) {
        if ids.isEmpty, replaced.isEmpty { return }
        try database.withLock { (database) throws(FileSystemError) in
            try database.transaction { () throws(FileSystemError) in
                for id in replaced { try Self.remove(id, from: database) }
                for id in ids { try Self.move(id, to: place, in: database) }
            }
        }
    }

    /// Headers of an entry, and what was changed of them.
    func amend(_ id: JournalEntry.ID, _ place: Place, _ changes: MetadataPatch) throws(FileSystemError) {
        try database.withLock { (database) throws(FileSystemError) in
            let update = try database.statement("UPDATE entries SET fields = ?2, changes = ?3 WHERE id = ?1")
            update.bind(1, id.rawValue)
            update.bind(2, FieldList(place.headers).bytes)
            update.bind(3, FieldList(changes).bytes)
            try update.run()
        }
    }

    // MARK: Changes of metadata

    /// A change of metadata that was acknowledged and is not patched yet. Answers how to name it later.
    func note(
        _ patch: MetadataPatch, of object: ObjectName, base: JournalEntry.Base, time: Timestamp
    ) throws(FileSystemError) -> JournalEntry.ID {
        let id = nextID()
        try update(id, patch, of: object, base: base, time: time)
        return id
    }

    /// The noted change is this one now, of this object.
    func update(
        _ id: JournalEntry.ID, _ patch: MetadataPatch, of object: ObjectName, base: JournalEntry.Base, time: Timestamp
    ) throws(FileSystemError) {
        try database.withLock { (database) throws(FileSystemError) in
            let insert = try database.statement(
                """
                INSERT OR REPLACE INTO entries (
                    id, object, generation, metageneration, state, fields, changes, time, size, base_limit)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0)
                """)
            insert.bind(1, id.rawValue)
            insert.bind(2, object.bytes)
            insert.bind(base, at: 3)
            insert.bind(5, JournalEntry.State.sealed.rawValue)
            insert.bind(6, [UInt8]())
            insert.bind(7, FieldList(patch).bytes)
            insert.bind(8, time.seconds)
            try insert.run()
        }
    }

    // MARK: Both

    /// The bucket has it, or nobody wants it any more.
    func remove(_ ids: [JournalEntry.ID], isDurable: Bool = false) throws(FileSystemError) {
        let due = leftOver.withLock { leftOver in
            defer { leftOver = [] }
            return leftOver + ids
        }
        if due.isEmpty { return }
        do throws(FileSystemError) {
            try database.withLock { (database) throws(FileSystemError) in
                try database.transaction(isDurable: isDurable) { () throws(FileSystemError) in
                    for id in due { try Self.remove(id, from: database) }
                }
            }
        } catch {
            leftOver.withLock { $0 += due }
            throw error
        }
    }

    /// An entry begins anew.
    private func isWanted(_ id: JournalEntry.ID) { leftOver.withLock { $0.removeAll { $0 == id } } }

    /// Whoever asks what is there shall not hear of what is done.
    private func removeLeftOver() { try? remove([]) }

    func mark(_ id: JournalEntry.ID, _ state: JournalEntry.State, message: String?) throws(FileSystemError) {
        try database.withLock { (database) throws(FileSystemError) in
            let update = try database.statement("UPDATE entries SET state = ?2, message = ?3 WHERE id = ?1")
            update.bind(1, id.rawValue)
            update.bind(2, state.rawValue)
            update.bind(3, message)
            try update.run()
        }
    }

    /// Everything, in the order it was made. Damaged rows are told in the second part.
    package func entries() throws(FileSystemError) -> (entries: [JournalEntry], damaged: [String]) {
        removeLeftOver()
        return try database.withLock { (database) throws(FileSystemError) in try JournalRows.read(database) }
    }

    var isEmpty: Bool {
        get throws(FileSystemError) {
            removeLeftOver()
            return try database.withLock { (database) throws(FileSystemError) in
                let any = try database.statement("SELECT 1 FROM entries LIMIT 1")
                defer { any.reset() }
                return try !any.step()
            }
        }
    }

    /// The end: an empty journal goes, with its directory. False: there are entries, or it cannot be told.
    package func removeIfEmpty() -> Bool {
        guard (try? isEmpty) == true else { return false }
        directory.remove()
        return true
    }
}
