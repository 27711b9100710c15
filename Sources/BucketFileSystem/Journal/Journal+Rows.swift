import ObjectStore

/// The statements behind `Journal`'s operations. Each runs in the transaction of its caller, or is one of its own.
extension Journal {
    static func put(_ content: Content, into database: JournalDatabase) throws(FileSystemError) {
        let insert = try database.statement(
            """
            INSERT OR REPLACE INTO entries (
                id, object, generation, metageneration, state, fields, changes, time, file, size, base_limit, checksum)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        insert.bind(1, content.id.rawValue)
        insert.bind(2, content.place.object.bytes)
        insert.bind(content.place.base, at: 3)
        insert.bind(5, content.state.rawValue)
        insert.bind(6, FieldList(content.place.headers).bytes)
        insert.bind(7, FieldList(content.changes).bytes)
        insert.bind(8, content.time.seconds)
        insert.bind(9, content.file)
        insert.bind(10, content.size)
        insert.bind(11, content.baseLimit)
        insert.bind(12, content.checksum.map { Int64($0) })
        try insert.run()
    }

    static func apply(
        _ change: StagedExtents.Change, to id: JournalEntry.ID, in database: JournalDatabase
    ) throws(FileSystemError) {
        for start in change.removed {
            let delete = try database.statement("DELETE FROM extents WHERE entry = ? AND start = ?")
            delete.bind(1, id.rawValue)
            delete.bind(2, start)
            try delete.run()
        }
        for extent in change.set { try set(extent, of: id, in: database) }
    }

    static func set(
        _ extent: StagedExtents.Extent, of id: JournalEntry.ID, in database: JournalDatabase
    ) throws(FileSystemError) {
        let insert = try database.statement("INSERT OR REPLACE INTO extents VALUES (?, ?, ?, ?)")
        insert.bind(1, id.rawValue)
        insert.bind(2, extent.range.lowerBound)
        insert.bind(3, extent.range.upperBound)
        insert.bind(4, extent.checksum.map { Int64($0) })
        try insert.run()
    }

    static func move(
        _ id: JournalEntry.ID, to place: Place, in database: JournalDatabase
    ) throws(FileSystemError) {
        let update = try database.statement(
            "UPDATE entries SET object = ?2, generation = ?3, metageneration = ?4, fields = ?5 WHERE id = ?1")
        update.bind(1, id.rawValue)
        update.bind(2, place.object.bytes)
        update.bind(place.base, at: 3)
        update.bind(5, FieldList(place.headers).bytes)
        try update.run()
    }

    static func remove(_ id: JournalEntry.ID, from database: JournalDatabase) throws(FileSystemError) {
        let delete = try database.statement("DELETE FROM entries WHERE id = ?")
        delete.bind(1, id.rawValue)
        try delete.run()
        try removeExtents(of: id, from: database)
    }

    static func removeExtents(of id: JournalEntry.ID, from database: JournalDatabase) throws(FileSystemError) {
        let delete = try database.statement("DELETE FROM extents WHERE entry = ?")
        delete.bind(1, id.rawValue)
        try delete.run()
    }
}

extension JournalStatement {
    /// Generation and metageneration, as parameters `first` and the next.
    func bind(_ base: JournalEntry.Base, at first: Int32) {
        guard case .generation(let generation, let metageneration) = base else { return }
        bind(first, generation.rawValue)
        bind(first + 1, metageneration.rawValue)
    }
}

/// Reading a journal back. The rows may come from a disk that lost power: nothing in them is believed unchecked.
enum JournalRows {
    static func lastID(_ database: JournalDatabase) throws(FileSystemError) -> Int64 {
        let last = try database.statement("SELECT max(id) FROM entries")
        defer { last.reset() }
        return try last.step() ? last.integer(0) : 0
    }

    static func user(_ database: JournalDatabase) throws(FileSystemError) -> (mountPoint: String?, isLeft: Bool) {
        let about = try database.statement("SELECT mount_point, is_left FROM about")
        defer { about.reset() }
        return try about.step() ? (about.text(0), about.integer(1) != 0) : (nil, false)
    }

    static func read(
        _ database: JournalDatabase
    ) throws(FileSystemError) -> (entries: [JournalEntry], damaged: [String]) {
        let extents = try extents(database)
        let rows = try database.statement(
            """
            SELECT id, object, generation, metageneration, state, message, fields, changes, time, file, size,
                base_limit, checksum
            FROM entries ORDER BY id
            """)
        defer { rows.reset() }
        var entries: [JournalEntry] = []
        var damaged: [String] = []
        while try rows.step() {
            if let entry = entry(rows, extents[rows.integer(0), default: []]) {
                entries.append(entry)
            } else {
                let name = ObjectName(rows.bytes(1))
                damaged.append("\(rows.integer(0)) of \(name); its bytes are in \(rows.text(9) ?? "no file")")
            }
        }
        return (entries, damaged)
    }

    /// nil for an entry whose extents make no sense.
    private static func extents(
        _ database: JournalDatabase
    ) throws(FileSystemError) -> [Int64: [StagedExtents.Extent]?] {
        let rows = try database.statement(
            "SELECT entry, start, \"end\", checksum FROM extents ORDER BY entry, start")
        defer { rows.reset() }
        var extents: [Int64: [StagedExtents.Extent]] = [:]
        var damaged: Set<Int64> = []
        while try rows.step() {
            let (entry, start, end) = (rows.integer(0), rows.integer(1), rows.integer(2))
            guard start >= extents[entry]?.last?.range.upperBound ?? 0, end > start else {
                damaged.insert(entry)
                continue
            }
            let checksum = rows.optionalInteger(3).map { UInt32(truncatingIfNeeded: $0) }
            // In place: a file that was written here and there has a hundred thousand.
            extents[entry, default: []].append(StagedExtents.Extent(range: start..<end, checksum: checksum))
        }
        var answer = extents.mapValues { Optional($0) }
        for entry in damaged { answer[entry] = .some(nil) }
        return answer
    }

    private static func entry(_ row: JournalStatement, _ extents: [StagedExtents.Extent]?) -> JournalEntry? {
        guard let state = JournalEntry.State(rawValue: row.integer(4)), !row.bytes(1).isEmpty,
            let purpose = purpose(row, extents)
        else { return nil }
        let base: JournalEntry.Base =
            row.optionalInteger(2).map {
                .generation(ObjectGeneration($0), Metageneration(row.integer(3)))
            } ?? .absent
        return JournalEntry(
            id: JournalEntry.ID(row.integer(0)), object: ObjectName(row.bytes(1)), base: base, state: state,
            message: row.text(5), purpose: purpose, time: Timestamp(seconds: row.integer(8)))
    }

    private static func purpose(
        _ row: JournalStatement, _ extents: [StagedExtents.Extent]?
    ) -> JournalEntry.Purpose? {
        guard let headers = FieldList(row.bytes(6))?.headers, let changes = FieldList(row.bytes(7))?.patch else {
            return nil
        }
        guard let file = row.text(9) else { return .metadata(changes) }
        let (size, baseLimit) = (row.integer(10), row.integer(11))
        // A name with a slash would leave the directory.
        guard file.hasPrefix(StagingFile.namePrefix), !file.contains("/"), let extents, size >= 0, baseLimit >= 0,
            size <= FileSystem.largestObject
        else { return nil }
        // Writing grows a file without saying so in its row.
        let end = max(size, extents.last?.range.upperBound ?? 0)
        return .content(
            StagedContent(
                file: file, size: end, baseLimit: baseLimit, extents: extents,
                checksum: row.optionalInteger(12).map { UInt32(truncatingIfNeeded: $0) }, headers: headers,
                changes: changes))
    }
}
