/// One change of a bucket: what is read and written through it belongs together. Lives inside `ObjectIndex.change`.
final class ObjectTransaction {
    let database: Database
    let bucket: BucketRecord
    /// Files that no object points to once this is committed.
    private(set) var released: [ContentID] = []

    init(database: Database, bucket: BucketRecord) {
        self.database = database
        self.bucket = bucket
    }

    func object(_ name: ObjectName) throws(APIError) -> ObjectRecord? { try database.object(name, in: bucket) }

    /// The live object, of the generation asked for if one was.
    /// - Throws: 404 `notFound`.
    func existing(_ name: ObjectName, generation: Int64?) throws(APIError) -> ObjectRecord {
        guard let object = try object(name), generation == nil || generation == object.generation else {
            throw .noSuchObject(bucket.name, name)
        }
        return object
    }

    /// Makes `content` the object's, as a new generation.
    /// - Throws: 412 if the preconditions do not hold for what is there now.
    func store(
        _ content: NewContent, as name: ObjectName, attributes: ObjectAttributes, if preconditions: Preconditions
    ) throws(APIError) -> ObjectRecord {
        let replaced = try object(name)
        try preconditions.check(replaced)
        let now = currentTime()
        let object = ObjectRecord(
            name: name, generation: try database.nextGeneration(in: bucket, at: now), metageneration: 1,
            size: content.size, checksums: content.checksums, componentCount: content.componentCount,
            content: content.id, created: now, updated: now, attributes: attributes)
        try database.put(object, in: bucket)
        if bucket.isHierarchical { try database.makeFolders(name.enclosingFolders, in: bucket) }
        if let replaced { released.append(replaced.content) }
        return object
    }

    /// Gives the object other attributes: one metageneration more, also when nothing differs.
    func change(_ object: ObjectRecord, attributes: ObjectAttributes) throws(APIError) -> ObjectRecord {
        var changed = object
        changed.attributes = attributes
        changed.metageneration += 1
        changed.updated = max(currentTime(), object.updated)
        try database.put(changed, in: bucket)
        return changed
    }

    func release(_ contents: [ContentID]) { released += contents }

    /// - Parameter keepingContent: another object has taken the file over.
    func remove(_ object: ObjectRecord, keepingContent: Bool = false) throws(APIError) {
        try database.delete(object.name, in: bucket)
        if !keepingContent { released.append(object.content) }
    }
}
