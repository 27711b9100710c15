import Glibc
import Locking

/// Whose unsaved bytes a journal holds. A mount's prefix is not part of it: entries have full names, so any mount of
/// the bucket can bring them home.
package struct JournalOwner: Equatable, Sendable {
    package let bucket: String
    /// The service's root, as `http://127.0.0.1:9000`.
    package let endpoint: String

    package init(bucket: String, endpoint: String) {
        self.bucket = bucket
        self.endpoint = endpoint
    }

    /// How the names of its directories begin: buckets of one name at two services differ.
    fileprivate var directoryPrefix: String {
        // FNV-1a, 32 bits: enough to tell apart the few services that one machine speaks to; the journal itself says
        // which it is.
        let hash = endpoint.utf8.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return "\(bucket)-\(String(hash, radix: 36))."
    }
}

/// The directory of one journal: the database and the staging files that belong together. Mode 0700, and locked as long
/// as the process lives that uses it: the kernel lets go of the lock however the process ends.
package final class JournalDirectory: Sendable {
    /// Absolute.
    package let path: String
    private let descriptor: Lock<Int32>

    static let databaseName = "journal.db"

    /// A new one in `parent`, which exists.
    package static func make(in parent: String, for owner: JournalOwner) throws(FileSystemError) -> JournalDirectory {
        var template = Array("\(parent)/\(owner.directoryPrefix)XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw failure("cannot make a directory in \(parent)") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let directory = try open(path) else { throw .staging("\(path) was locked as soon as it was made") }
        return directory
    }

    /// Those in `parent` that no living process uses; now they are ours.
    /// - Parameter owner: nil: whosoever's.
    package static func abandoned(
        in parent: String, of owner: JournalOwner?
    ) throws(FileSystemError) -> [JournalDirectory] {
        var directories: [JournalDirectory] = []
        for path in try paths(in: parent, of: owner) {
            if let directory = try open(path) { directories.append(directory) }
        }
        return directories
    }

    /// The paths of all in `parent`, in use or not.
    package static func paths(in parent: String, of owner: JournalOwner?) throws(FileSystemError) -> [String] {
        let prefix = owner?.directoryPrefix ?? ""
        return try entries(of: parent).filter { $0.hasPrefix(prefix) }.sorted().map { "\(parent)/\($0)" }
    }

    /// Locks an existing one; nil: another process uses it, or it is gone.
    package static func open(_ path: String) throws(FileSystemError) -> JournalDirectory? {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT || errno == ENOTDIR || errno == ELOOP { return nil }
        guard descriptor >= 0 else { throw failure("cannot open \(path)") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            defer { close(descriptor) }
            guard errno == EWOULDBLOCK else { throw failure("cannot lock \(path)") }
            return nil
        }
        return JournalDirectory(path: path, descriptor: descriptor)
    }

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = Lock(descriptor)
    }

    /// One that another process may have locked.
    init(viewing path: String) {
        self.path = path
        descriptor = Lock(-1)
    }

    deinit { release() }

    /// Others may have it. Safe to call twice.
    func release() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    var databasePath: String { "\(path)/\(Self.databaseName)" }

    /// What distinguishes it from others of the same bucket, for people.
    var shortName: String { Self.shortName(of: path) }

    static func shortName(of path: String) -> String { path.split(separator: ".").last.map(String.init) ?? path }

    var hasDatabase: Bool { Self.exists(databasePath) }

    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// The names of staging files in it.
    func stagingFiles() throws(FileSystemError) -> [String] {
        try Self.entries(of: path).filter { $0.hasPrefix(StagingFile.namePrefix) }
    }

    func removeFile(_ name: String) { unsafe unlink("\(path)/\(name)") }

    /// Removes it with its database. Only for one that has no entries: staging files in it belong to nothing.
    func remove() {
        for name in (try? Self.entries(of: path)) ?? [] where Self.isOurs(name) { removeFile(name) }
        unsafe rmdir(path)
        release()
    }

    private static func isOurs(_ name: String) -> Bool {
        name.hasPrefix(databaseName) || name.hasPrefix(StagingFile.namePrefix)
    }

    private static func entries(of path: String) throws(FileSystemError) -> [String] {
        guard let stream = unsafe opendir(path) else { throw failure("cannot read \(path)") }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func failure(_ what: String) -> FileSystemError {
        let code = errno
        if code == ENOSPC || code == EDQUOT { return .noSpace }
        return unsafe .staging("\(what): \(String(cString: strerror(code)))")
    }
}
