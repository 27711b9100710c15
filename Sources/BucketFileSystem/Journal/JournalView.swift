import ObjectStore

/// A journal as another process sees it, in use or not: read, and never changed.
package struct JournalView: Sendable {
    /// The directory.
    package let path: String
    package let owner: JournalOwner
    /// Where the mount is that uses it, or used it last.
    package let mountPoint: String?
    private let isLeft: Bool
    /// A living process has it.
    package let isInUse: Bool
    package let entries: [JournalEntry]

    /// - Throws: `.staging` for one that cannot be read.
    package init?(_ path: String) throws(FileSystemError) {
        // Unlocked again at once: only to see whether somebody has it.
        isInUse = try JournalDirectory.open(path) == nil
        self.path = path
        let databasePath = "\(path)/\(JournalDirectory.databaseName)"
        guard JournalDirectory.exists(databasePath) else { return nil }
        let database = try JournalDatabase(path: databasePath, .reader)
        owner = try JournalSchema.check(database, databasePath)
        (mountPoint, isLeft) = try JournalRows.user(database)
        entries = try JournalRows.read(database).entries
    }

    /// Everything in `directory`; what cannot be read is told to `report`.
    package static func all(
        in directory: String, report: (String) -> Void
    ) throws(FileSystemError) -> [JournalView] {
        var views: [JournalView] = []
        for path in try JournalDirectory.paths(in: directory, of: nil) {
            do throws(FileSystemError) {
                if let view = try JournalView(path) { views.append(view) }
            } catch {
                report("what an earlier mount left in \(path) cannot be read: \(error.words)")
            }
        }
        return views
    }

    /// The entries without those for files that a living mount has open.
    package var unsaved: [JournalEntry] { entries.filter { !isInUse || isLeft || $0.state != .open } }

    /// For people: `a1B2c3-17`.
    package func name(of entry: JournalEntry) -> String {
        "\(JournalDirectory.shortName(of: path))-\(entry.id.rawValue)"
    }
}
