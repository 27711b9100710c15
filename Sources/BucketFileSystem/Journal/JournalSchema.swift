/// The tables of a journal (docs/JOURNAL.md). A change of them is a new version.
enum JournalSchema {
    /// `PRAGMA application_id`: "FMJ1" as a number, so that `file` and we tell a journal from another database.
    static let applicationID: Int64 = 0x464D_4A31
    /// `PRAGMA user_version`.
    static let version: Int64 = 1

    static let statements = [
        "CREATE TABLE about (bucket TEXT NOT NULL, endpoint TEXT NOT NULL, mount_point TEXT, is_left INTEGER NOT NULL)",
        """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY,
            object BLOB NOT NULL,
            generation INTEGER,
            metageneration INTEGER,
            state INTEGER NOT NULL,
            message TEXT,
            fields BLOB NOT NULL,
            changes BLOB NOT NULL,
            time INTEGER NOT NULL,
            file TEXT,
            size INTEGER NOT NULL,
            base_limit INTEGER NOT NULL,
            checksum INTEGER
        )
        """,
        """
        CREATE TABLE extents (
            entry INTEGER NOT NULL,
            start INTEGER NOT NULL,
            "end" INTEGER NOT NULL,
            checksum INTEGER,
            PRIMARY KEY (entry, start)
        ) WITHOUT ROWID
        """,
    ]

    /// Makes the tables of a new journal.
    static func create(in database: JournalDatabase, for owner: JournalOwner) throws(FileSystemError) {
        try database.transaction { () throws(FileSystemError) in
            for statement in statements { try database.run(statement) }
            let about = try database.statement("INSERT INTO about (bucket, endpoint, is_left) VALUES (?, ?, 0)")
            about.bind(1, owner.bucket)
            about.bind(2, owner.endpoint)
            try about.run()
            try database.run("PRAGMA application_id = \(applicationID)")
            try database.run("PRAGMA user_version = \(version)")
        }
    }

    /// Whose journal it is.
    /// - Throws: `.staging` for one that we cannot read: it is left alone.
    static func check(_ database: JournalDatabase, _ path: String) throws(FileSystemError) -> JournalOwner {
        guard try integer("PRAGMA application_id", database) == applicationID else {
            throw .staging("\(path) is no journal of ours")
        }
        let found = try integer("PRAGMA user_version", database) ?? 0
        guard found == version else {
            throw .staging("\(path) is a journal of version \(found), and this program knows version \(version)")
        }
        let about = try database.statement("SELECT bucket, endpoint FROM about")
        defer { about.reset() }
        guard try about.step(), let bucket = about.text(0), let endpoint = about.text(1) else {
            throw .staging("\(path) does not say which bucket it is of")
        }
        return JournalOwner(bucket: bucket, endpoint: endpoint)
    }

    private static func integer(_ sql: String, _ database: JournalDatabase) throws(FileSystemError) -> Int64? {
        let statement = try database.statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : nil
    }
}
