/// The processes that keep a mount busy: those that work in it or hold a file of it open, as far as `/proc` shows them
/// to us.
struct MountUsers {
    struct User: Equatable {
        let processID: Int
        let name: String
    }

    let users: [User]

    /// - Parameter mountPoint: canonical.
    init(of mountPoint: String) {
        let numbers = ((try? Files.entries(of: "/proc")) ?? []).compactMap { Int($0) }.sorted()
        users = numbers.filter { Self.uses($0, mountPoint) }.map { User(processID: $0, name: Self.name(of: $0)) }
    }

    /// `bash (process 812), vim (process 901)`.
    var description: String {
        users.map { "\($0.name) (process \($0.processID))" }.joined(separator: ", ")
    }

    private static func uses(_ process: Int, _ mountPoint: String) -> Bool {
        let folder = "/proc/\(process)"
        let files = ((try? Files.entries(of: "\(folder)/fd")) ?? []).map { "\(folder)/fd/\($0)" }
        return (["cwd", "root", "exe"].map { "\(folder)/\($0)" } + files).contains { link in
            Files.linkTarget(link).map { isPath($0, within: mountPoint) } ?? false
        }
    }

    private static func name(of process: Int) -> String {
        let bytes = (try? Files.contents(of: "/proc/\(process)/comm")) ?? []
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
