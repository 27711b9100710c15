extension Database {
    /// The columns of an object, in the order that `Statement.object()` reads them.
    static let objectColumns = """
        name, generation, metageneration, size, crc32c, md5, component_count, content, created, updated,
        content_type, content_encoding, content_disposition, content_language, cache_control, storage_class,
        custom_time, metadata
        """

    func object(_ name: ObjectName, in bucket: BucketRecord) throws(APIError) -> ObjectRecord? {
        let statement = try statement("SELECT \(Self.objectColumns) FROM objects WHERE bucket = ? AND name = ?")
        defer { statement.reset() }
        statement.bind(1, bucket.id)
        statement.bind(2, name.bytes)
        return try statement.step() ? statement.object() : nil
    }

    func put(_ object: ObjectRecord, in bucket: BucketRecord) throws(APIError) {
        let statement = try statement(
            """
            INSERT OR REPLACE INTO objects (bucket, \(Self.objectColumns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        statement.bind(1, bucket.id)
        statement.bind(object, from: 2)
        try statement.run()
    }

    func delete(_ name: ObjectName, in bucket: BucketRecord) throws(APIError) {
        let statement = try statement("DELETE FROM objects WHERE bucket = ? AND name = ?")
        statement.bind(1, bucket.id)
        statement.bind(2, name.bytes)
        try statement.run()
    }

    /// Takes the bucket's next generation: the time in microseconds, but always more than the one before.
    func nextGeneration(in bucket: BucketRecord, at time: Microseconds) throws(APIError) -> Int64 {
        let statement = try statement(
            """
            UPDATE buckets SET last_generation = MAX(?, last_generation + 1) WHERE id = ? RETURNING last_generation
            """)
        statement.bind(1, time)
        statement.bind(2, bucket.id)
        defer { statement.reset() }
        guard try statement.step() else { throw .noSuchBucket(bucket.name) }
        let generation = statement.integer(0)
        // RETURNING hands the row out before the statement is done.
        _ = try statement.step()
        return generation
    }
}

extension Statement {
    /// The object in the present row.
    func object() -> ObjectRecord {
        ObjectRecord(
            name: ObjectName(stored: bytes(0)), generation: integer(1), metageneration: integer(2), size: integer(3),
            checksums: Checksums(crc32c: UInt32(truncatingIfNeeded: integer(4)), md5: optionalBytes(5)),
            componentCount: optionalInteger(6), content: ContentID(value: integer(7)), created: integer(8),
            updated: integer(9),
            attributes: ObjectAttributes(
                contentType: text(10), contentEncoding: text(11), contentDisposition: text(12),
                contentLanguage: text(13), cacheControl: text(14), storageClass: text(15) ?? "STANDARD",
                customTime: text(16), metadata: optionalBytes(17)))
    }

    fileprivate func bind(_ object: ObjectRecord, from first: Int32) {
        bind(first, object.name.bytes)
        bind(first + 1, object.generation)
        bind(first + 2, object.metageneration)
        bind(first + 3, object.size)
        bind(first + 4, Int64(object.checksums.crc32c))
        bind(first + 5, object.checksums.md5)
        bind(first + 6, object.componentCount)
        bind(first + 7, object.content.value)
        bind(first + 8, object.created)
        bind(first + 9, object.updated)
        bind(first + 10, object.attributes.contentType)
        bind(first + 11, object.attributes.contentEncoding)
        bind(first + 12, object.attributes.contentDisposition)
        bind(first + 13, object.attributes.contentLanguage)
        bind(first + 14, object.attributes.cacheControl)
        bind(first + 15, object.attributes.storageClass)
        bind(first + 16, object.attributes.customTime)
        bind(first + 17, object.attributes.metadata)
    }
}
