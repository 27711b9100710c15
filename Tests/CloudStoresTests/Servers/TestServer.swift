import BucketServer
import CloudStores
import Glibc
import TestSupport
import Testing

/// A server that the store is tried on.
enum TestServer: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// Our own, in this process.
    case own
    /// fake-gcs-server, which others wrote; `scripts/setup test` installs it.
    case independent
    /// Whatever `FIREMOUNT_TEST_ENDPOINT` names; its bucket is `FIREMOUNT_TEST_BUCKET`.
    case named

    static let available = allCases.filter { $0.root != nil }

    var testDescription: String { rawValue }

    /// Started when it is first asked for; nil when there is none.
    var root: String? {
        switch self {
        case .own: Self.ownRoot
        case .independent: FakeGCSServer.root
        case .named: environment("FIREMOUNT_TEST_ENDPOINT")
        }
    }

    var bucket: String { self == .named ? environment("FIREMOUNT_TEST_BUCKET") ?? "demo" : "demo" }

    private static let ownDirectory = temporaryDirectory()
    private static let ownServer: LocalServer? = {
        var configuration = LocalServer.Configuration(dataDirectory: ownDirectory.path)
        configuration.buckets = ["demo"]
        configuration.hierarchicalBuckets = ["tree"]
        configuration.maxBytesRewrittenPerCall = 1 << 20
        return try? LocalServer(configuration)
    }()
    private static let ownRoot = (try? ownServer?.start()).map { "http://127.0.0.1:\($0)" }
}

func environment(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
}
