import Glibc

/// The few things the command does with local files. Paths are as the system takes them.
enum Files {
    static func contents(of path: String) throws(SystemError) -> [UInt8] {
        let file = try Descriptor.open(path, O_RDONLY)
        var contents: [UInt8] = []
        while true {
            let piece = try file.read()
            if piece.isEmpty { return contents }
            contents += piece
        }
    }

    /// Names in a directory, without `.` and `..`, in no order.
    static func entries(of directory: String) throws(SystemError) -> [String] {
        guard let stream = unsafe opendir(directory) else { throw .last }
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

    /// What a symbolic link says; nil if it cannot be read.
    static func linkTarget(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// What `stat` says, following links.
    static func status(of path: String) throws(SystemError) -> stat {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .last }
        return status
    }

    /// Calls on the file system behind `path`, which fails if it is gone.
    static func askFileSystem(of path: String) throws(SystemError) {
        var statistics = statvfs()
        guard unsafe statvfs(path, &statistics) == 0 else { throw .last }
    }

    /// The path without links, `.` and `..`.
    static func canonicalPath(_ path: String) throws(SystemError) -> String {
        guard let resolved = unsafe realpath(path, nil) else { throw .last }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// What there is of `path`, without links, `.` and `..`.
    static func canonicalPrefix(of path: String) -> String {
        if let path = try? canonicalPath(path) { return path }
        let parent = parentDirectory(of: path)
        return parent == path ? path : canonicalPrefix(of: parent)
    }

    /// Makes `path` and what is missing above it, each for us alone (0700). One that exists stays as it is.
    static func makeDirectories(_ path: String) throws(SystemError) {
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        let parent = parentDirectory(of: path)
        guard errno == ENOENT, parent != path else { throw .last }
        try makeDirectories(parent)
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last }
    }

    /// Whether names can be made in a directory.
    static func checkWritable(_ directory: String) throws(SystemError) {
        guard unsafe access(directory, W_OK | X_OK) == 0 else { throw .last }
    }

    /// Removes a directory; false if it is not empty, or stays for another reason.
    static func removeIfEmpty(_ directory: String) -> Bool { unsafe rmdir(directory) == 0 }

    /// A new directory whose name begins with `prefix`, for us alone.
    static func makeTemporaryDirectory(in directory: String, prefix: String) throws(SystemError) -> String {
        var template = Array("\(directory)/\(prefix)XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw .last }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes `path` and everything below it. Never enters another file system: what is mounted there stays.
    static func removeTree(_ path: String) throws(SystemError) {
        var root = stat()
        guard unsafe lstat(path, &root) == 0 else { throw .last }
        try remove(path, on: root.st_dev)
    }

    private static func remove(_ path: String, on device: dev_t) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw .last }
        guard status.st_dev == device else { throw SystemError(code: EXDEV) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            guard unsafe unlink(path) == 0 else { throw .last }
            return
        }
        for name in try entries(of: path) { try remove("\(path)/\(name)", on: device) }
        guard unsafe rmdir(path) == 0 else { throw .last }
    }
}

/// So that this process keeps no file system busy: neither by its working directory (paths must be absolute from then
/// on), nor by files that it inherited.
/// - Parameter firstInherited: descriptors from here on are closed.
func leaveFileSystems(closingFrom firstInherited: Int32) {
    unsafe chdir("/")
    closefrom(firstInherited)
}

/// Everything before the last `/`; `/` for a path at the root, `.` for a bare name.
func parentDirectory(of path: String) -> String {
    let path = withoutTrailingSlashes(path)
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : withoutTrailingSlashes(String(path[..<slash]))
}

/// Everything after the last `/`.
func lastComponent(of path: String) -> String {
    let path = withoutTrailingSlashes(path)
    return path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
}

private func withoutTrailingSlashes(_ path: String) -> String {
    var path = path[...]
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return String(path)
}

/// Whether `path` is `directory` or below it; both absolute and canonical.
func isPath(_ path: String, within directory: String) -> Bool {
    path == directory || directory == "/" || path.hasPrefix(directory + "/")
}
