import BucketFileSystem
import FoundationEssentials
import Glibc

/// Where `firemount recover` looks for journals: in the cache directory that an option names and no other; else in
/// those that mounts of this user have by default, and in those that the mounts say they have.
struct JournalSearch {
    /// Absolute.
    private let given: String?
    /// Absolute.
    let usual: [String]
    private let environment: ProcessEnvironment

    init(_ settings: MountSettings, _ environment: ProcessEnvironment) {
        given = settings.cacheDirectory.map(environment.absolutePath)
        usual = environment.usualCaches.map { "\($0)/firemount" }
        self.environment = environment
    }

    struct Findings {
        var views: [JournalView]
        /// The cache directories that were looked into.
        var directories: [String]

        /// That there was nothing, and where.
        var nothing: String {
            let others = directories.dropLast().joined(separator: ", ")
            let places = (others.isEmpty ? "" : others + " or ") + (directories.last ?? "")
            return "Nothing is waiting in \(places); --cache-dir DIR looks elsewhere."
        }
    }

    /// The journals of a bucket or a mount point; all for nil.
    func findings(of target: RecoverRequest.Target?) throws(CommandFailure) -> Findings {
        guard case .mountPoint(let typed)? = target else {
            let directories = try directories(of: target)
            let views = try views(in: directories)
            guard case .bucket(let name)? = target else { return Findings(views: views, directories: directories) }
            return Findings(views: views.filter { $0.owner.bucket == name }, directories: directories)
        }
        let path = environment.absolutePath(typed)
        // One that is gone, directory and all, still stands in its journal.
        let resolved = (try? MountPoint.mounted(path)) ?? path
        let directories = try directories(of: target)
        let views = try views(in: directories).filter { $0.mountPoint == resolved }
        if views.isEmpty { _ = try MountPoint.mounted(path) }
        return Findings(views: views, directories: directories)
    }

    /// The journals in which an entry may be that nothing else is known of. Most are where no mount must be asked for.
    func find<Found>(_ body: (JournalView) -> Found?) throws(CommandFailure) -> Found? {
        for directories in [given.map { [$0] } ?? usual, try directories(of: nil)] {
            for view in try views(in: directories) {
                if let found = body(view) { return found }
            }
        }
        return nil
    }

    // MARK: Journals

    private func views(in directories: [String]) throws(CommandFailure) -> [JournalView] {
        var views: [JournalView] = []
        for directory in directories.map(StagingDirectory.path) {
            do throws(SystemError) { _ = try Files.status(of: directory) } catch {
                if error.code == ENOENT || error.code == ENOTDIR { continue }
                throw CommandFailure("cannot look into \(directory): \(error)")
            }
            do throws(FileSystemError) {
                views += try JournalView.all(in: directory) { printLine("firemount: \($0)", to: STDERR_FILENO) }
            } catch {
                throw CommandFailure("cannot look into \(directory): \(error.words)")
            }
        }
        return views
    }

    // MARK: Directories

    private func directories(of target: RecoverRequest.Target?) throws(CommandFailure) -> [String] {
        if let given { return [given] }
        var directories = usual
        for mount in try mounts(of: target) {
            guard let directory = cacheDirectory(of: mount), !directories.contains(directory) else { continue }
            directories.append(directory)
        }
        guard !directories.isEmpty else {
            throw CommandFailure("there is no HOME to look for journals in; name the place with --cache-dir")
        }
        return directories
    }

    /// Those of this user; that of a mount point whosesoever it is.
    private func mounts(of target: RecoverRequest.Target?) throws(CommandFailure) -> [MountTable.Entry] {
        let table = try MountPoint.table()
        let own = table.entries.filter { $0.isFiremount && ($0.userID ?? 0) == environment.userID }
        switch target {
        case nil: return own
        case .bucket(let name): return own.filter { ($0.source + "/").hasPrefix("gs://\(name)/") }
        case .mountPoint(let typed):
            guard let path = try? MountPoint.mounted(environment.absolutePath(typed)) else { return [] }
            return table.entry(at: path).map { $0.isFiremount ? [$0] : [] } ?? []
        }
    }

    /// nil: the mount is gone, or does not say.
    private func cacheDirectory(of mount: MountTable.Entry) -> String? {
        switch MountInquiry.ask(mount.mountPoint, options: ["--json"]) {
        case .said(let json, _):
            let answers = try? JSONDecoder().decode([StatusAnswer].self, from: Data(json.utf8))
            // The journal's directory is in the staging directory, and that in the cache directory.
            return answers?.first?.status?.journal.map { parentDirectory(of: parentDirectory(of: $0)) }
        case .unmounted: return nil
        case .hangs, .unasked:
            printLine(
                "firemount: the mount at \(mount.mountPoint) does not say where its journal is; --cache-dir does",
                to: STDERR_FILENO)
            return nil
        }
    }

    /// `firemount status --json`, as far as it matters here.
    private struct StatusAnswer: Decodable {
        let status: MountReport?
    }
}
