import ObjectStore

extension ListPage {
    /// Holds the answer against its question: names that lie elsewhere would become entries that no folder has, and a
    /// page that leads to itself would never end.
    func checked(against query: ListQuery) throws(AnswerDocument.Malformed) -> ListPage {
        for item in items { try Self.check(item.name, query) }
        for name in names { try Self.check(name, query) }
        for folder in folders {
            try Self.check(folder, query)
            guard folder.bytes.last == Self.slash, folder.bytes.count > query.prefix.bytes.count else {
                throw AnswerDocument.Malformed(problem: "the list names a folder that is none, \(folder)")
            }
        }
        if let nextPageToken, nextPageToken == query.pageToken {
            throw AnswerDocument.Malformed(problem: "the list's page is followed by itself")
        }
        return self
    }

    private static let slash = UInt8(ascii: "/")

    private static func check(_ name: ObjectName, _ query: ListQuery) throws(AnswerDocument.Malformed) {
        let rest = name.bytes.dropFirst(query.prefix.bytes.count)
        guard name.bytes.starts(with: query.prefix.bytes), !query.collapsesFolders || !rest.dropLast().contains(slash)
        else { throw AnswerDocument.Malformed(problem: "the list was not asked for \(name)") }
    }
}
