import Glibc

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
}
