extension Database {
    /// One page in byte order. A collapsed folder costs one seek, however much is in it.
    func list(_ query: ListQuery, in bucket: BucketRecord) throws(APIError) -> ListPage {
        var listing = Listing(query: query)
        while let start = listing.seek, listing.page.next == nil {
            listing.seek = nil
            try scan(from: start, in: bucket, into: &listing)
        }
        return listing.page
    }

    /// Reads names upwards from `start` until the page is full, the range ends, or a folder is to be jumped over.
    private func scan(from start: [UInt8], in bucket: BucketRecord, into listing: inout Listing) throws(APIError) {
        let statement = try statement(listing.query.includesFolders ? Self.listWithFolders : Self.list)
        defer { statement.reset() }
        statement.bind(1, bucket.id)
        statement.bind(2, start)
        while try statement.step() {
            guard listing.take(statement.bytes(0), isFolder: statement.isFolder, object: statement.object) else {
                return
            }
        }
    }

    private static let list = """
        SELECT \(objectColumns), 0 AS is_folder FROM objects WHERE bucket = ?1 AND name >= ?2 ORDER BY name
        """

    /// Both tables are in the order of names, so that SQLite merges them as it reads.
    private static let listWithFolders = """
        SELECT \(objectColumns), 0 AS is_folder FROM objects WHERE bucket = ?1 AND name >= ?2
        UNION ALL
        SELECT name, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, '', NULL, NULL, 1
        FROM folders WHERE bucket = ?1 AND name >= ?2
        ORDER BY name, is_folder
        """
}

extension Statement {
    fileprivate var isFolder: Bool { integer(18) != 0 }
}

/// The walk over sorted names that makes a page. Pure: it is told each name and says where to go on.
private struct Listing {
    let query: ListQuery
    var page = ListPage()
    /// Where to read next; nil at the end.
    var seek: [UInt8]?
    private let end: [UInt8]?
    /// A collapsed prefix whose object `prefix/` is on an earlier page.
    private var owedPrefix: [UInt8]?

    init(query: ListQuery) {
        self.query = query
        end = [successor(of: query.prefix), query.endOffset].compactMap(\.self).min { $0.lexicographicallyPrecedes($1) }
        var start: [UInt8]? =
            query.prefix.lexicographicallyPrecedes(query.startOffset) ? query.startOffset : query.prefix
        switch query.position {
        case .afterName(let name): start = name + [0]
        case .afterPrefix(let prefix): start = successor(of: prefix)
        case .atPrefix(let prefix):
            start = prefix
            owedPrefix = prefix
        case nil: break
        }
        seek = start
    }

    private var count: Int { page.items.count + page.prefixes.count }

    /// Takes the next name in order.
    /// - Returns: whether to read on from here; else `seek` and `page.next` say what is next.
    mutating func take(_ name: [UInt8], isFolder: Bool, object: () -> ObjectRecord) -> Bool {
        if let end, !name.lexicographicallyPrecedes(end) { return false }
        if let prefix = collapsedPrefix(of: name) {
            return take(folder: prefix, isAlsoObject: name == prefix && !isFolder, object: object)
        }
        // The folder that is listed is not in itself.
        if isFolder { return true }
        if let glob = query.glob, !glob.matches(name) { return true }
        if query.omitsEmptySegments, hasEmptySegment(name[...]) { return true }
        guard hasRoom() else { return false }
        page.items.append(object())
        last = .afterName(name)
        return true
    }

    /// - Parameter isAlsoObject: `object` has the prefix for its name.
    private mutating func take(folder prefix: [UInt8], isAlsoObject: Bool, object: () -> ObjectRecord) -> Bool {
        if query.includesTrailingDelimiter, isAlsoObject, owedPrefix == nil {
            guard hasRoom() else { return false }
            page.items.append(object())
            last = .atPrefix(prefix)
        }
        if query.omitsEmptySegments, hasEmptySegment(prefix.dropLast()) {
            seek = successor(of: prefix)
            return false
        }
        guard hasRoom() else { return false }
        owedPrefix = nil
        page.prefixes.append(prefix)
        last = .afterPrefix(prefix)
        seek = successor(of: prefix)
        return false
    }

    private var last: ListPosition?

    /// Room for one entry more; without it the page ends where the last entry left off.
    private mutating func hasRoom() -> Bool {
        if count < query.limit { return true }
        page.next = last
        return false
    }

    /// The name up to and with the first delimiter behind the prefix, if there is one.
    private func collapsedPrefix(of name: [UInt8]) -> [UInt8]? {
        guard let first = query.delimiter.first else { return nil }
        var index = query.prefix.count
        while index + query.delimiter.count <= name.count {
            if name[index] == first, name[index...].starts(with: query.delimiter) {
                return Array(name[..<(index + query.delimiter.count)])
            }
            index += 1
        }
        return nil
    }
}

/// Whether nothing stands between two slashes, or before the end, of a name. One slash at its start does not count.
private func hasEmptySegment(_ name: ArraySlice<UInt8>) -> Bool {
    let slash = UInt8(ascii: "/")
    return name.drop(atMostOne: slash).split(separator: slash, omittingEmptySubsequences: false).contains(
        where: \.isEmpty)
}

extension ArraySlice<UInt8> {
    fileprivate func drop(atMostOne byte: UInt8) -> ArraySlice<UInt8> { first == byte ? dropFirst() : self }
}
