import BucketFileSystem
import Glibc
import Logging

/// Where one run of a mount keeps files that the bucket does not have yet: a directory of its own in the cache
/// directory, for us alone, locked as long as the process lives. It goes away at the end, unless something in it could
/// not be stored.
struct StagingDirectory: ~Copyable, Sendable {
    let path: String
    private let lock: Descriptor

    /// Checks the cache directory without changing more than making it.
    static func checkCacheDirectory(_ path: String, userID: UInt32) throws(CommandFailure) {
        let wayOut = "name another with --cache-dir"
        let status: stat
        do throws(SystemError) {
            try Files.makeDirectories("\(path)/staging")
            status = try Files.status(of: path)
            try Files.checkWritable("\(path)/staging")
        } catch {
            throw CommandFailure("cannot use the cache directory \(path): \(error); \(wayOut)")
        }
        guard status.st_uid == userID else {
            throw CommandFailure("the cache directory \(path) belongs to user \(status.st_uid); \(wayOut)")
        }
        // Someone else's hands in what we upload would be someone else's words in the bucket.
        guard status.st_mode & 0o002 == 0 else {
            throw CommandFailure(
                "the cache directory \(path) can be written by everyone; chmod 700 \(path), or \(wayOut)")
        }
    }

    /// - Parameter cacheDirectory: checked.
    init(in cacheDirectory: String, bucket: String, log: Logger) throws(CommandFailure) {
        let parent = "\(cacheDirectory)/staging"
        Self.reportLeftovers(in: parent, log)
        do throws(SystemError) {
            let directory = try Files.makeTemporaryDirectory(in: parent, prefix: "\(bucket).")
            let descriptor = try Descriptor.open(directory, O_RDONLY | O_DIRECTORY)
            guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else { throw .last }
            path = directory
            lock = descriptor
        } catch {
            throw CommandFailure(
                "cannot use the cache directory \(cacheDirectory): \(error); name another with --cache-dir")
        }
    }

    /// Removes it with everything that the file system did not keep for good: files that were open at the end, and are
    /// stored. False: something is left in it.
    consuming func remove() -> Bool {
        for name in (try? Files.entries(of: path)) ?? [] where !name.hasPrefix(FileSystem.unsavedPrefix) {
            try? Files.removeTree("\(path)/\(name)")
        }
        return Files.removeIfEmpty(path)
    }

    /// Removes what other runs left empty, and tells of what they could not store.
    private static func reportLeftovers(in parent: String, _ log: Logger) {
        for name in (try? Files.entries(of: parent)) ?? [] {
            let directory = "\(parent)/\(name)"
            guard let lock = try? Descriptor.open(directory, O_RDONLY | O_DIRECTORY),
                flock(lock.number, LOCK_EX | LOCK_NB) == 0, !Files.removeIfEmpty(directory)
            else { continue }
            let count = (try? Files.entries(of: directory))?.count ?? 0
            log(
                .warning,
                "an earlier mount ended before \(count) files were stored; what there is of them is in \(directory)")
        }
    }
}
