import Testing

/// SwiftPM builds an executable that imports a module two layers down without declaring it; these tests do not.
struct LayerTests {
    /// Module → what its files may import. `docs/ARCHITECTURE.md` has the picture.
    static let allowedImports: [String: Set<String>] = [
        "Locking": ["Glibc"],
        "Logging": ["Glibc", "Locking"],
        "ObjectStore": ["Locking"],
        "HTTPTransport": ["CCurl", "Locking", "Logging", "Glibc"],
        "CloudStores": [
            "ObjectStore", "HTTPTransport", "CCrypto", "CISAL", "CSimdjson", "Locking", "Logging", "Glibc",
            "FoundationEssentials",
        ],
        "CloudStorage": [
            "ObjectStore", "CloudStores", "HTTPTransport", "CISAL", "Locking", "Logging", "Glibc", "Dispatch",
            "Foundation",
        ],
        "Examples": ["CloudStorage", "Dispatch", "Foundation"],
        "BucketFileSystem": ["ObjectStore", "CISAL", "CSQLite", "Locking", "Logging", "Glibc", "Dispatch"],
        "FUSEBridge": ["BucketFileSystem", "ObjectStore", "CFUSE", "Locking", "Logging", "Glibc"],
        "firemount": [
            "FUSEBridge", "BucketFileSystem", "CloudStores", "HTTPTransport", "ObjectStore", "BucketServer", "Locking",
            "Logging", "Glibc", "FoundationEssentials",
        ],
        "BucketServer": [
            "CMicrohttpd", "CSQLite", "CISAL", "CCrypto", "Locking", "Glibc", "Dispatch", "FoundationEssentials",
        ],
    ]

    static var sources: [ProjectFile] { get throws { try ProjectFile.all(below: ["Sources"], extensions: ["swift"]) } }

    @Test func everyModuleImportsOnlyWhatItsLayerMayKnow() throws {
        let sources = try Self.sources
        #expect(!sources.isEmpty)
        for file in sources {
            let allowed = try #require(Self.allowedImports[file.module], "\(file): its module is not in the table")
            let forbidden = file.imports.filter { !allowed.contains($0) }
            #expect(forbidden.isEmpty, "\(file) imports \(forbidden.joined(separator: ", "))")
        }
    }

    /// The client and the local server share a protocol document, not code: a shared mistake would pass every test.
    @Test func theLocalServerAndTheClientShareNoModule() throws {
        let client: Set<String> = [
            "HTTPTransport", "ObjectStore", "CloudStores", "CloudStorage", "BucketFileSystem", "FUSEBridge",
        ]
        for file in try Self.sources where file.module == "BucketServer" {
            #expect(client.isDisjoint(with: file.imports), "\(file)")
        }
        for file in try Self.sources where client.contains(file.module) {
            #expect(!file.imports.contains("BucketServer"), "\(file)")
        }
    }

    /// Between the kernel and the wire, one file turns errors into errno; those that keep files on the disk read it,
    /// into an error.
    @Test func errnoIsChosenInOneFileOnly() throws {
        let layers: Set<String> = ["HTTPTransport", "ObjectStore", "CloudStores", "BucketFileSystem", "FUSEBridge"]
        let exempt: Set<String> = [
            "Sources/FUSEBridge/Errno.swift", "Sources/BucketFileSystem/Writing/StagingFile.swift",
            "Sources/BucketFileSystem/Journal/JournalDirectory.swift",
            "Sources/CloudStores/Credentials/Firebase/FirebaseIdentityFile.swift",
        ]
        for file in try Self.sources where layers.contains(file.module) && !exempt.contains(file.path) {
            let lines = file.numbers { line in line.split { !$0.isLetter }.contains { Self.errnoNames.contains($0) } }
            #expect(lines.isEmpty, "\(file): lines \(lines)")
        }
    }

    private static let errnoNames: Set<Substring> = [
        "errno", "E2BIG", "EACCES", "EAGAIN", "EBADF", "EBUSY", "ECANCELED", "EDQUOT", "EEXIST", "EFBIG", "EINTR",
        "EINVAL",
        "EIO",
        "EISDIR", "EMLINK", "ENAMETOOLONG", "ENODATA", "ENOENT", "ENOMEM", "ENOSPC", "ENOSYS", "ENOTCONN", "ENOTDIR",
        "ENOTEMPTY", "ENOTSUP", "EOPNOTSUPP", "EPERM", "ERANGE", "EROFS", "ESTALE", "ETIMEDOUT", "EXDEV",
    ]

    /// Raw memory is touched in few, known places. A new file here is a decision, not a slip.
    @Test func theWordUnsafeStaysInKnownFiles() throws {
        let files = try Self.sources.filter { file in
            !file.numbers { line in line.split { !$0.isLetter }.contains("unsafe") }.isEmpty
        }
        let unexpected = Set(files.map(\.path)).subtracting(UnsafeFiles.all)
        #expect(unexpected.isEmpty, "\(unexpected.sorted())")
        let superfluous = Set(UnsafeFiles.all).subtracting(files.map(\.path))
        #expect(superfluous.isEmpty, "no longer needed in the list: \(superfluous.sorted())")
    }
}
