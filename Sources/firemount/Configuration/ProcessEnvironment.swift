import CloudStores
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
            ?? (userID == 0 ? Self.systemCache : nil)
    }

    /// Where mounts of this user keep files unless an option says otherwise: root's, with a home or from fstab.
    var usualCaches: [String] {
        let home = cacheHome.map { [$0] } ?? []
        return userID == 0 && home != [Self.systemCache] ? home + [Self.systemCache] : home
    }

    private static let systemCache = "/var/cache"

    /// Where the user's settings belong; nil: nowhere.
    var configHome: String? {
        self["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? self["HOME"].map { "\($0)/.config" }
    }

    /// Where the signed-in Firebase user is kept.
    func identityFile() throws(CommandFailure) -> FirebaseIdentityFile {
        guard let home = configHome else {
            throw CommandFailure("there is no HOME to keep the sign-in in; set HOME or XDG_CONFIG_HOME")
        }
        return FirebaseIdentityFile("\(home)/firemount/identity.json")
    }

    /// The emulator that a variable names; nil: none.
    func emulator(_ variable: String) throws(CommandFailure) -> ServiceEndpoint? {
        guard let host = self[variable] else { return nil }
        do { return try ServiceEndpoint(parsing: host) } catch {
            throw CommandFailure("\(variable): \(error); set it to HOST:PORT, or unset it")
        }
    }

    /// Where sign-ins are made and renewed, if not at Google.
    func authEmulator() throws(CommandFailure) -> ServiceEndpoint? { try emulator("FIREBASE_AUTH_EMULATOR_HOST") }

    /// Where the user's data belongs.
    var dataHome: String? {
        self["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? self["HOME"].map { "\($0)/.local/share" }
            ?? (userID == 0 ? "/var/lib" : nil)
    }

    var temporaryDirectory: String { self["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp" }
}
