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
        let statement = try statement(
            "SELECT \(Self.objectColumns) FROM objects WHERE bucket = ? AND name >= ? ORDER BY name")
        defer { statement.reset() }
        statement.bind(1, bucket.id)
        statement.bind(2, start)
        while try statement.step() {
            guard listing.take(statement.bytes(0), object: statement.object) else { return }
        }
    }
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
    mutating func take(_ name: [UInt8], object: () -> ObjectRecord) -> Bool {
        if let end, !name.lexicographicallyPrecedes(end) { return false }
        if let prefix = collapsedPrefix(of: name) { return take(folder: prefix, first: name, object: object) }
        if let glob = query.glob, !glob.matches(name) { return true }
        guard hasRoom() else { return false }
        page.items.append(object())
        last = .afterName(name)
        return true
    }

    private mutating func take(folder prefix: [UInt8], first name: [UInt8], object: () -> ObjectRecord) -> Bool {
        if query.includesTrailingDelimiter, name == prefix, owedPrefix == nil {
            guard hasRoom() else { return false }
            page.items.append(object())
            last = .atPrefix(prefix)
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
