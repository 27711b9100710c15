import FoundationEssentials
import Locking

/// The resumable uploads, finished ones too, so that a client whose last answer was lost can ask again.
///
/// They are kept in the index for a week (PROTOCOL 4.5) and survive a restart of the server. In memory are those in use
/// and a bounded number of others. Any thread may call it.
final class UploadSessions: Sendable {
    private static let lifetime: Microseconds = 7 * 24 * 3600 * 1_000_000
    /// Each unfinished one holds a file open. Reading one in again costs reading its bytes again.
    private static let mostIdle = 256

    private struct Stored: Codable {
        let plan: UploadPlan
        let announcedSize: Int64?
        var doneGeneration: Int64?
        var ending: UploadSession.Ending?
    }

    private struct Entry {
        let session: UploadSession
        /// Requests that hold it. While there is one, everybody must get this very session.
        var users: Int
    }

    private let index: ObjectIndex
    private let files: ContentFiles
    private let entries = Lock<[String: Entry]>([:])

    init(index: ObjectIndex, files: ContentFiles) throws(APIError) {
        self.index = index
        self.files = files
        try expire(before: currentTime() - Self.lifetime)
    }

    /// Begins an upload.
    /// - Returns: the session's id.
    func start(_ plan: UploadPlan, announcedSize: Int64?) throws(APIError) -> String {
        let id = randomID()
        let session = UploadSession(
            id: id, plan: plan, announcedSize: announcedSize, staged: try files.stage(upload: id))
        let text = try encoded(Stored(plan: plan, announcedSize: announcedSize))
        try index.write { (database) throws(APIError) in
            let insert = try database.statement("INSERT INTO uploads (id, started, state) VALUES (?, ?, ?)")
            insert.bind(1, id)
            insert.bind(2, currentTime())
            insert.bind(3, text)
            try insert.run()
        }
        entries.withLock { entries in
            Self.dropIdle(&entries)
            entries[id] = Entry(session: session, users: 0)
        }
        return id
    }

    /// What an upload is to become.
    /// - Throws: 404 when there is no such session (any more).
    func plan(_ id: String) throws(APIError) -> UploadPlan {
        let session = try checkOut(id)
        defer { checkIn(session) }
        return session.plan
    }

    /// The session, held until it is checked in.
    /// - Throws: 404 when there is no such session (any more).
    func checkOut(_ id: String) throws(APIError) -> UploadSession {
        if let session = entries.withLock({ Self.use(id, in: &$0) }) { return session }
        let loaded = try load(id)
        return entries.withLock { entries in
            if let session = Self.use(id, in: &entries) { return session }
            Self.dropIdle(&entries)
            entries[id] = Entry(session: loaded, users: 1)
            return loaded
        }
    }

    func checkIn(_ session: UploadSession) {
        let isOver = if case .receiving = session.progress() { false } else { true }
        entries.withLock { entries in
            guard var entry = entries[session.id] else { return }
            entry.users -= 1
            // What is over can be read from the index if anybody asks.
            entries[session.id] = entry.users == 0 && isOver ? nil : entry
        }
    }

    /// Notes with the object itself that its upload is done.
    func markDone(_ session: UploadSession, _ object: ObjectRecord, in change: ObjectTransaction) throws(APIError) {
        let stored = Stored(
            plan: session.plan, announcedSize: session.announcedSize, doneGeneration: object.generation)
        try update(session, stored, in: change.database)
    }

    /// No object will come of it.
    func end(_ session: UploadSession, _ ending: UploadSession.Ending) throws(APIError) {
        let stored = Stored(plan: session.plan, announcedSize: session.announcedSize, ending: ending)
        try index.write { (database) throws(APIError) in try update(session, stored, in: database) }
        session.end(ending)
    }

    /// Forgets every upload.
    func removeAll() throws(APIError) {
        let inUse = entries.withLock { entries in
            defer { entries = [:] }
            return entries.values.map(\.session)
        }
        for session in inUse { session.end(.cancelled) }
        try expire(before: .max)
    }

    private func update(_ session: UploadSession, _ stored: Stored, in database: Database) throws(APIError) {
        let update = try database.statement("UPDATE uploads SET state = ? WHERE id = ?")
        update.bind(1, try encoded(stored))
        update.bind(2, session.id)
        try update.run()
    }

    private static func use(_ id: String, in entries: inout [String: Entry]) -> UploadSession? {
        entries[id]?.users += 1
        return entries[id]?.session
    }

    private static func dropIdle(_ entries: inout [String: Entry]) {
        guard entries.count >= mostIdle else { return }
        entries = entries.filter { $0.value.users > 0 }
    }

    private func load(_ id: String) throws(APIError) -> UploadSession {
        let text = try index.read { (database) throws(APIError) in
            let select = try database.statement("SELECT state FROM uploads WHERE id = ?")
            defer { select.reset() }
            select.bind(1, id)
            return try select.step() ? select.bytes(0) : nil
        }
        guard let text, let stored = try? JSONDecoder().decode(Stored.self, from: Data(text)) else {
            throw .notFound("upload \(id)")
        }
        if let ending = stored.ending {
            return UploadSession(id: id, plan: stored.plan, announcedSize: stored.announcedSize, ended: ending)
        }
        guard let generation = stored.doneGeneration else {
            return UploadSession(
                id: id, plan: stored.plan, announcedSize: stored.announcedSize, staged: try files.stage(upload: id))
        }
        let bucket = try index.bucket(stored.plan.bucket)
        guard let object = try index.object(stored.plan.name, in: bucket), object.generation == generation else {
            // The JSON API has no word for it.
            guard stored.plan.caller != nil else { throw .notFound("upload \(id)") }
            return UploadSession(id: id, plan: stored.plan, announcedSize: stored.announcedSize, ended: .replaced)
        }
        return UploadSession(id: id, plan: stored.plan, announcedSize: stored.announcedSize, done: object)
    }

    private func expire(before time: Microseconds) throws(APIError) {
        let expired = try index.write { (database) throws(APIError) in
            let delete = try database.statement("DELETE FROM uploads WHERE started < ? RETURNING id")
            defer { delete.reset() }
            delete.bind(1, time)
            var ids: [String] = []
            while try delete.step() { ids.append(delete.text(0) ?? "") }
            return ids
        }
        for id in expired { files.removeStaged(upload: id) }
    }

    private func encoded(_ stored: Stored) throws(APIError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(stored))
        } catch {
            throw .backend("cannot write down an upload: \(error)")
        }
    }
}

/// An unguessable name: a session's address is its key.
func randomID() -> String {
    let digits = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
    return digits.joined()
}
