/// The folders of hierarchical buckets.
extension Database {
    func folder(_ name: ObjectName, in bucket: BucketRecord) throws(APIError) -> FolderRecord? {
        let statement = try statement(
            "SELECT name, metageneration, created, updated FROM folders WHERE bucket = ? AND name = ?")
        defer { statement.reset() }
        statement.bind(1, bucket.id)
        statement.bind(2, name.bytes)
        return try statement.step() ? statement.folder() : nil
    }

    /// Makes folders that are not there yet.
    func makeFolders(_ names: [ObjectName], in bucket: BucketRecord) throws(APIError) {
        let statement = try statement(
            "INSERT OR IGNORE INTO folders (bucket, name, metageneration, created, updated) VALUES (?, ?, 1, ?, ?)")
        let now = currentTime()
        for name in names {
            statement.bind(1, bucket.id)
            statement.bind(2, name.bytes)
            statement.bind(3, now)
            statement.bind(4, now)
            try statement.run()
        }
    }

    func deleteFolder(_ name: ObjectName, in bucket: BucketRecord) throws(APIError) {
        let statement = try statement("DELETE FROM folders WHERE bucket = ? AND name = ?")
        statement.bind(1, bucket.id)
        statement.bind(2, name.bytes)
        try statement.run()
    }

    /// Whether anything lies in the folder: an object, or a folder other than itself.
    func hasContents(_ folder: ObjectName, in bucket: BucketRecord) throws(APIError) -> Bool {
        for (table, comparison) in [("objects", ">="), ("folders", ">")] {
            let statement = try statement(
                "SELECT 1 FROM \(table) WHERE bucket = ? AND name \(comparison) ? AND name < ? LIMIT 1")
            defer { statement.reset() }
            statement.bind(1, bucket.id)
            statement.bind(2, folder.bytes)
            statement.bind(3, successor(of: folder.bytes))
            if try statement.step() { return true }
        }
        return false
    }

    /// Gives the folder and everything in it another name. Objects keep their generations: only names change.
    func renameFolder(_ folder: ObjectName, to destination: ObjectName, in bucket: BucketRecord) throws(APIError) {
        for table in ["objects", "folders"] {
            // The length is counted in bytes: names are blobs.
            let statement = try statement(
                """
                UPDATE \(table) SET name = CAST(?1 || substr(name, ?2) AS BLOB)
                WHERE bucket = ?3 AND name >= ?4 AND name < ?5
                """)
            statement.bind(1, destination.bytes)
            statement.bind(2, Int64(folder.bytes.count) + 1)
            statement.bind(3, bucket.id)
            statement.bind(4, folder.bytes)
            statement.bind(5, successor(of: folder.bytes))
            try statement.run()
        }
        let touch = try statement(
            "UPDATE folders SET metageneration = metageneration + 1, updated = ? WHERE bucket = ? AND name = ?")
        touch.bind(1, currentTime())
        touch.bind(2, bucket.id)
        touch.bind(3, destination.bytes)
        try touch.run()
    }

    /// Removes the folder with everything in it.
    /// - Returns: the files that its objects had.
    func deleteRecursively(_ folder: ObjectName, in bucket: BucketRecord) throws(APIError) -> [ContentID] {
        let end = successor(of: folder.bytes)
        let objects = try statement(
            "DELETE FROM objects WHERE bucket = ? AND name >= ? AND name < ? RETURNING content")
        defer { objects.reset() }
        objects.bind(1, bucket.id)
        objects.bind(2, folder.bytes)
        objects.bind(3, end)
        var contents: [ContentID] = []
        while try objects.step() { contents.append(ContentID(value: objects.integer(0))) }
        let folders = try statement("DELETE FROM folders WHERE bucket = ? AND name >= ? AND name < ?")
        folders.bind(1, bucket.id)
        folders.bind(2, folder.bytes)
        folders.bind(3, end)
        try folders.run()
        return contents
    }

    /// Folders below a prefix in byte order; with a delimiter only those right below it.
    /// - Returns: one more than `limit` if there are more.
    func listFolders(_ query: FolderQuery, in bucket: BucketRecord) throws(APIError) -> [FolderRecord] {
        let statement = try statement(
            """
            SELECT name, metageneration, created, updated FROM folders
            WHERE bucket = ? AND name >= ? AND name < COALESCE(?, X'FFFF') ORDER BY name
            """)
        defer { statement.reset() }
        statement.bind(1, bucket.id)
        statement.bind(2, query.start)
        statement.bind(3, query.end)
        var folders: [FolderRecord] = []
        while folders.count <= query.limit, try statement.step() {
            let folder = statement.folder()
            if query.includes(folder.name) { folders.append(folder) }
        }
        return folders
    }
}

struct FolderQuery: Sendable {
    var prefix: [UInt8] = []
    var isShallow = false
    var start: [UInt8] = []
    /// Exclusive; nil for no bound.
    var end: [UInt8]?
    var limit = 1000

    func includes(_ name: ObjectName) -> Bool {
        guard name.bytes.starts(with: prefix) else { return false }
        return !isShallow || !name.bytes.dropFirst(prefix.count).dropLast().contains(UInt8(ascii: "/"))
    }
}

extension Statement {
    fileprivate func folder() -> FolderRecord {
        FolderRecord(
            name: ObjectName(stored: bytes(0)), metageneration: integer(1), created: integer(2), updated: integer(3))
    }
}
