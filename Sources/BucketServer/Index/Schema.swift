/// The index's tables. Objects are clustered by bucket and name, so that a listing is one scan in byte order.
enum Schema {
    /// Kept in SQLite's user_version; an index of another version is refused, not guessed at.
    static let version: Int64 = 2

    static func install(in database: Database) throws(APIError) {
        let statement = try database.statement("PRAGMA user_version")
        _ = try statement.step()
        let found = statement.integer(0)
        statement.reset()
        switch found {
        case version: break
        case 0: try create(in: database)
        case 1: try addAccounts(to: database)
        default: throw .backend("the index has version \(found), this server writes \(version)")
        }
    }

    /// Version 1 knew no users.
    private static func addAccounts(to database: Database) throws(APIError) {
        try database.transaction { () throws(APIError) in
            try database.run(accounts)
            try database.run("PRAGMA user_version = \(version)")
        }
    }

    /// There is nothing to lose yet, so nothing waits for the disk.
    private static func create(in database: Database) throws(APIError) {
        try database.run("PRAGMA synchronous = OFF")
        try database.run(tables)
        try database.run(accounts)
        try database.run("PRAGMA user_version = \(version)")
        try database.run("PRAGMA synchronous = NORMAL")
    }

    private static let accounts = """
        CREATE TABLE accounts (
            id TEXT PRIMARY KEY,
            email TEXT UNIQUE,
            state BLOB NOT NULL
        ) WITHOUT ROWID;
        """

    private static let tables = """
        CREATE TABLE buckets (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            created INTEGER NOT NULL,
            hierarchical INTEGER NOT NULL,
            project TEXT NOT NULL,
            last_generation INTEGER NOT NULL
        );
        CREATE TABLE objects (
            bucket INTEGER NOT NULL,
            name BLOB NOT NULL,
            generation INTEGER NOT NULL,
            metageneration INTEGER NOT NULL,
            size INTEGER NOT NULL,
            crc32c INTEGER NOT NULL,
            md5 BLOB,
            component_count INTEGER,
            content INTEGER NOT NULL,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            content_type TEXT,
            content_encoding TEXT,
            content_disposition TEXT,
            content_language TEXT,
            cache_control TEXT,
            storage_class TEXT NOT NULL,
            custom_time TEXT,
            metadata BLOB,
            PRIMARY KEY (bucket, name)
        ) WITHOUT ROWID;
        CREATE TABLE uploads (
            id TEXT PRIMARY KEY,
            started INTEGER NOT NULL,
            state BLOB NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE folders (
            bucket INTEGER NOT NULL,
            name BLOB NOT NULL,
            metageneration INTEGER NOT NULL,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            PRIMARY KEY (bucket, name)
        ) WITHOUT ROWID;
        """
}
