import Glibc

/// What the process was started with, apart from its arguments.
struct ProcessEnvironment: Sendable {
    var variables: [String: String]
    var userID: UInt32
    var groupID: UInt32
    /// Absolute.
    var workingDirectory: String

    /// Non-empty values only: an empty variable is as good as none.
    subscript(name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    static var current: ProcessEnvironment {
        ProcessEnvironment(
            variables: currentVariables, userID: geteuid(), groupID: getegid(),
            workingDirectory: (try? Files.canonicalPath(".")) ?? "/")
    }

    private static var currentVariables: [String: String] {
        var variables: [String: String] = [:]
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let parts = unsafe String(cString: entry).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            unsafe next += 1
        }
        return variables
    }

    /// A path as typed, made absolute.
    func absolutePath(_ path: TypedPath) -> String {
        path.text.hasPrefix("/") ? path.text : "\(workingDirectory)/\(path.text)"
    }

    /// Where the user's caches belong; without `HOME`, which a mount by init has not, only root has a place.
    var cacheHome: String? {
        self["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? self["HOME"].map { "\($0)/.cache" }
            ?? (userID == 0 ? "/var/cache" : nil)
    }

    /// Where the user's data belongs.
    var dataHome: String? {
        self["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? self["HOME"].map { "\($0)/.local/share" }
            ?? (userID == 0 ? "/var/lib" : nil)
    }

    var temporaryDirectory: String { self["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp" }
}
