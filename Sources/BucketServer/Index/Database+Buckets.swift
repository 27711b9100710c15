extension Database {
    func buckets() throws(APIError) -> [String: BucketRecord] {
        let statement = try statement("SELECT id, name, created, hierarchical, project FROM buckets")
        defer { statement.reset() }
        var buckets: [String: BucketRecord] = [:]
        while try statement.step() {
            let name = statement.text(1) ?? ""
            buckets[name] = BucketRecord(
                id: statement.integer(0), name: name, created: statement.integer(2),
                isHierarchical: statement.integer(3) != 0, project: statement.text(4) ?? "")
        }
        return buckets
    }

    func addBucket(_ name: String, project: String, isHierarchical: Bool) throws(APIError) -> BucketRecord {
        let known = try statement("SELECT 1 FROM buckets WHERE name = ?")
        defer { known.reset() }
        known.bind(1, name)
        guard try !known.step() else { throw .conflict("A bucket of the name \(name) exists already.") }
        let created = currentTime()
        let insert = try statement(
            """
            INSERT INTO buckets (name, created, hierarchical, project, last_generation) VALUES (?, ?, ?, ?, 0)
            RETURNING id
            """)
        defer { insert.reset() }
        insert.bind(1, name)
        insert.bind(2, created)
        insert.bind(3, isHierarchical ? 1 : 0)
        insert.bind(4, project)
        _ = try insert.step()
        return BucketRecord(
            id: insert.integer(0), name: name, created: created, isHierarchical: isHierarchical, project: project)
    }

    /// Removes all objects and folders.
    /// - Returns: the files that the objects had.
    func deleteContents(of bucket: BucketRecord) throws(APIError) -> [ContentID] {
        let objects = try statement("DELETE FROM objects WHERE bucket = ? RETURNING content")
        defer { objects.reset() }
        objects.bind(1, bucket.id)
        var contents: [ContentID] = []
        while try objects.step() { contents.append(ContentID(value: objects.integer(0))) }
        let folders = try statement("DELETE FROM folders WHERE bucket = ?")
        folders.bind(1, bucket.id)
        try folders.run()
        return contents
    }

    func removeBucket(_ bucket: BucketRecord) throws(APIError) {
        let objects = try statement("SELECT 1 FROM objects WHERE bucket = ? LIMIT 1")
        defer { objects.reset() }
        objects.bind(1, bucket.id)
        guard try !objects.step() else { throw .conflict("The bucket you tried to delete is not empty.") }
        for table in ["DELETE FROM folders WHERE bucket = ?", "DELETE FROM buckets WHERE id = ?"] {
            let delete = try statement(table)
            delete.bind(1, bucket.id)
            try delete.run()
        }
    }
}
