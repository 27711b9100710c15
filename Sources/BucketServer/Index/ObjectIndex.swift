import Locking

/// Which objects there are and what they are: the server's truth, in one SQLite file. Any thread may call it.
///
/// Reads run side by side, each on a connection of its own; writes take turns on one. The lock around the writer is
/// held across SQLite's I/O on purpose: taking turns is all it is for.
final class ObjectIndex: Sendable {
    private let path: String
    private let writer: Lock<Database>
    private let idleReaders: Lock<[Database]>
    private let buckets: Lock<[String: BucketRecord]>

    init(path: String) throws(APIError) {
        self.path = path
        let database = try Database(path: path)
        try Schema.install(in: database)
        buckets = Lock(try database.buckets())
        writer = Lock(database)
        idleReaders = Lock([])
    }

    /// The highest content id in use.
    func highestContent() throws(APIError) -> ContentID {
        try read { (database) throws(APIError) in
            let statement = try database.statement("SELECT COALESCE(MAX(content), 0) FROM objects")
            defer { statement.reset() }
            _ = try statement.step()
            return ContentID(value: statement.integer(0))
        }
    }

    // MARK: Buckets

    func bucket(_ name: String) throws(APIError) -> BucketRecord {
        guard let bucket = buckets.withLock({ $0[name] }) else { throw .noSuchBucket(name) }
        return bucket
    }

    func allBuckets() -> [BucketRecord] {
        buckets.withLock { $0.values.sorted { $0.id < $1.id } }
    }

    /// - Throws: 409 when there is one of that name.
    func addBucket(_ name: String, project: String, isHierarchical: Bool) throws(APIError) -> BucketRecord {
        let bucket = try writer.withLock { (database) throws(APIError) in
            try database.addBucket(name, project: project, isHierarchical: isHierarchical)
        }
        buckets.withLock { $0[name] = bucket }
        return bucket
    }

    /// - Throws: 409 when it has objects.
    func removeBucket(_ name: String) throws(APIError) {
        let bucket = try bucket(name)
        try writer.withLock { (database) throws(APIError) in try database.removeBucket(bucket) }
        buckets.withLock { _ = $0.removeValue(forKey: name) }
    }

    // MARK: Objects

    func object(_ name: ObjectName, in bucket: BucketRecord) throws(APIError) -> ObjectRecord? {
        try read { (database) throws(APIError) in try database.object(name, in: bucket) }
    }

    /// Reads on a connection that nobody else uses meanwhile.
    func read<Result>(_ body: (Database) throws(APIError) -> Result) throws(APIError) -> Result {
        let database = if let idle = idleReaders.withLock({ $0.popLast() }) { idle } else { try Database(path: path) }
        defer { idleReaders.withLock { $0.append(database) } }
        return try body(database)
    }

    /// Changes objects of one bucket, all or nothing.
    /// - Returns: what `body` returns, and the files that no object points to any more.
    func change<Result>(
        _ bucket: BucketRecord, _ body: (ObjectTransaction) throws(APIError) -> Result
    ) throws(APIError) -> (result: Result, released: [ContentID]) {
        try writer.withLock { (database) throws(APIError) in
            try database.transaction { () throws(APIError) in
                let transaction = ObjectTransaction(database: database, bucket: bucket)
                let result = try body(transaction)
                return (result, transaction.released)
            }
        }
    }

    /// Changes what belongs to no object.
    func write<Result>(_ body: (Database) throws(APIError) -> Result) throws(APIError) -> Result {
        try writer.withLock { (database) throws(APIError) in
            try database.transaction { () throws(APIError) in try body(database) }
        }
    }
}
