import BucketFileSystem
import Glibc
import Logging

/// Where journals are kept: a directory in the cache directory, for us alone.
enum StagingDirectory {
    static func path(in cacheDirectory: String) -> String { "\(cacheDirectory)/staging" }

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

    /// Removes what other runs left empty, and tells of what they could not store.
    static func reportLeftovers(in parent: String, _ log: Logger) {
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
