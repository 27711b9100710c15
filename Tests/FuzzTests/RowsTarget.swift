import Locking
import ObjectStore

@testable import BucketFileSystem

/// Rows of a journal whose columns hold anything: a table of another program's making, or of a disk's. The input is a
/// run of rows: a byte for the table, then its columns, each a byte that says how it is written.
enum RowsTarget {
    private static let database = Lock(emptyDatabase())

    private static func emptyDatabase() -> sending JournalDatabase {
        do throws(FileSystemError) {
            let database = try JournalDatabase(path: ":memory:", .mount)
            // The journal's own names, without its types and promises: SQLite keeps what a damaged page holds.
            try database.run(
                """
                CREATE TABLE entries (
                    id INTEGER PRIMARY KEY, object, generation, metageneration, state, message, fields, changes, time,
                    file, size, base_limit, checksum)
                """)
            try database.run("CREATE TABLE extents (entry, start, \"end\", checksum)")
            return database
        } catch { preconditionFailure("\(error)") }
    }

    static func run(_ input: [UInt8]) -> Bool {
        checkFields(input)
        return database.withLock { holdsEntries($0, input) }
    }

    private static func holdsEntries(_ database: JournalDatabase, _ input: [UInt8]) -> Bool {
        do throws(FileSystemError) {
            try database.run("BEGIN")
            defer { try? database.run("ROLLBACK") }
            var columns = Columns(input[...])
            for _ in 0..<64 {
                guard let table = columns.next() else { break }
                let (name, count) = table % 2 == 0 ? ("entries", 13) : ("extents", 4)
                let places = Array(repeating: "?", count: count).joined(separator: ", ")
                let insert = try database.statement("INSERT OR REPLACE INTO \(name) VALUES (\(places))")
                for column in 1...count { columns.bind(Int32(column), of: insert) }
                // A key that is no number is refused here, and would be by any journal.
                try? insert.run()
            }
            let (entries, _) = try JournalRows.read(database)
            for entry in entries { JournalTarget.check(entry) }
            return !entries.isEmpty
        } catch { return false }
    }

    /// A list of fields that is read is written as it was.
    private static func checkFields(_ input: [UInt8]) {
        guard let list = FieldList(input) else { return }
        precondition(list.bytes == input, "\(list)")
        guard let patch = list.patch else { return }
        precondition(FieldList(FieldList(patch).bytes)?.patch == patch, "\(patch)")
        guard let headers = list.headers else { return }
        precondition(FieldList(FieldList(headers).bytes)?.headers == headers, "\(headers)")
    }
}

/// Takes values of columns off an input; behind its end all are NULL.
private struct Columns {
    private var rest: ArraySlice<UInt8>

    init(_ rest: ArraySlice<UInt8>) { self.rest = rest }

    mutating func next() -> UInt8? { rest.popFirst() }

    mutating func bind(_ column: Int32, of statement: JournalStatement) {
        switch next() {
        case 1?: statement.bind(column, Int64(next() ?? 0))
        case 2?: statement.bind(column, bytes(8).reduce(0) { $0 << 8 | Int64($1) })
        case 3?: statement.bind(column, String(decoding: bytes(Int(next() ?? 0)), as: UTF8.self))
        case 4?: statement.bind(column, Array(bytes(Int(next() ?? 0))))
        case 5?: statement.bind(column, "staged-\(next() ?? 0)")
        default: break
        }
    }

    private mutating func bytes(_ count: Int) -> ArraySlice<UInt8> {
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
