import CSQLite

/// One SQLite connection with the statements it has prepared. Used by one thread at a time: `Journal` keeps it in a
/// lock.
@safe
final class JournalDatabase {
    private let handle: OpaquePointer
    private var statements: [String: JournalStatement] = [:]

    enum Access {
        /// The journal of a mount: made if it is not there.
        case mount
        /// Looking into another process's journal.
        case reader
    }

    /// - Throws: `.noSpace`, `.staging`.
    init(path: String, _ access: Access) throws(FileSystemError) {
        var handle: OpaquePointer?
        let flags =
            switch access {
            case .mount: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
            case .reader: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
            }
        let status = unsafe sqlite3_open_v2(path, &handle, flags, nil)
        guard status == SQLITE_OK, let handle = unsafe handle else {
            unsafe sqlite3_close(handle)
            throw Self.error(status, "cannot open the journal \(path)")
        }
        unsafe self.handle = handle
        unsafe sqlite3_busy_timeout(handle, 10_000)
        // A damaged file must not make the library run what is written in it.
        try run("PRAGMA trusted_schema = OFF")
        if case .reader = access {
            try run("PRAGMA query_only = ON")
            return
        }
        try run("PRAGMA journal_mode = WAL")
        // A crash of the process loses nothing that was committed; `commitDurably` is for crashes of the machine.
        try run("PRAGMA synchronous = NORMAL")
        // A checkpoint waits for the disk: do it every 16 MiB of log, not every 4.
        try run("PRAGMA wal_autocheckpoint = 4096")
    }

    deinit {
        statements.removeAll()
        unsafe sqlite3_close_v2(handle)
    }

    /// Runs SQL that answers nothing.
    func run(_ sql: String) throws(FileSystemError) {
        let status = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard status == SQLITE_OK else { throw failure(status) }
    }

    /// A prepared statement, reset and ready to bind; prepared once and kept.
    func statement(_ sql: String) throws(FileSystemError) -> JournalStatement {
        if let statement = statements[sql] {
            statement.reset()
            return statement
        }
        var raw: OpaquePointer?
        let status = unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &raw, nil)
        guard status == SQLITE_OK, let raw = unsafe raw else { throw failure(status) }
        let statement = unsafe JournalStatement(raw)
        statements[sql] = statement
        return statement
    }

    var lastRowID: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Does all of `body` or nothing.
    /// - Parameter isDurable: answers once the disk has it, not only the system.
    func transaction<Result>(
        isDurable: Bool = false, _ body: () throws(FileSystemError) -> Result
    ) throws(FileSystemError) -> Result {
        if isDurable { try run("PRAGMA synchronous = FULL") }
        defer {
            // Too careful is slow, not wrong.
            if isDurable { try? run("PRAGMA synchronous = NORMAL") }
        }
        try statement("BEGIN IMMEDIATE").run()
        do {
            let result = try body()
            try statement("COMMIT").run()
            return result
        } catch {
            // The first failure is the one to tell; SQLite may have rolled back already.
            try? statement("ROLLBACK").run()
            throw error
        }
    }

    private func failure(_ status: Int32) -> FileSystemError {
        Self.error(status, unsafe String(cString: sqlite3_errmsg(handle)))
    }

    fileprivate static func error(_ status: Int32, _ message: String) -> FileSystemError {
        // The low byte is the kind of failure (sqlite.org/rescode.html).
        status & 0xFF == SQLITE_FULL ? .noSpace : .staging("journal: \(message) (SQLite \(status))")
    }
}

/// A prepared statement. Parameters count from 1, columns from 0, as in SQLite.
@safe
final class JournalStatement {
    private let raw: OpaquePointer

    fileprivate init(_ raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe sqlite3_finalize(raw) }

    func reset() {
        unsafe sqlite3_reset(raw)
        unsafe sqlite3_clear_bindings(raw)
    }

    func bind(_ parameter: Int32, _ value: Int64?) {
        if let value { unsafe sqlite3_bind_int64(raw, parameter, value) }
    }

    func bind(_ parameter: Int32, _ text: String?) {
        guard var text else { return }
        text.withUTF8 {
            _ = unsafe sqlite3_bind_text64(
                raw, parameter, UnsafeRawPointer($0.baseAddress)?.assumingMemoryBound(to: CChar.self),
                UInt64($0.count), transient, UInt8(SQLITE_UTF8))
        }
    }

    func bind(_ parameter: Int32, _ bytes: [UInt8]?) {
        guard let bytes else { return }
        if bytes.isEmpty {
            unsafe sqlite3_bind_zeroblob(raw, parameter, 0)
        } else {
            unsafe bytes.withUnsafeBytes {
                _ = unsafe sqlite3_bind_blob64(raw, parameter, $0.baseAddress, UInt64($0.count), transient)
            }
        }
    }

    /// Moves to the next row; false when there is none.
    func step() throws(FileSystemError) -> Bool {
        let status = unsafe sqlite3_step(raw)
        switch status {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let message = unsafe String(cString: sqlite3_errmsg(sqlite3_db_handle(raw)))
            throw JournalDatabase.error(status, message)
        }
    }

    /// Runs a statement that answers no rows, and resets it.
    func run() throws(FileSystemError) {
        defer { unsafe sqlite3_reset(raw) }
        _ = try step()
    }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(raw, column) }

    func optionalInteger(_ column: Int32) -> Int64? {
        unsafe sqlite3_column_type(raw, column) == SQLITE_NULL ? nil : integer(column)
    }

    func text(_ column: Int32) -> String? {
        optionalBytes(column).map { String(decoding: $0, as: UTF8.self) }
    }

    func bytes(_ column: Int32) -> [UInt8] { optionalBytes(column) ?? [] }

    func optionalBytes(_ column: Int32) -> [UInt8]? {
        guard unsafe sqlite3_column_type(raw, column) != SQLITE_NULL else { return nil }
        guard let start = unsafe sqlite3_column_blob(raw, column) else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column))))
    }
}

/// SQLITE_TRANSIENT: SQLite copies what is bound before the call returns.
private var transient: sqlite3_destructor_type { unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
