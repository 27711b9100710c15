import CCurl
import Glibc

/// What the process does once for libcurl.
enum CurlLibrary {
    /// Before the first handle. A peer that closes must not end the process: handles are told to leave signals alone,
    /// so SIGPIPE is ignored here, for all.
    static func start() { _ = started }

    private static let started: Bool = {
        signal(SIGPIPE, SIG_IGN)
        let status = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        precondition(status == CURLE_OK, "curl_global_init: \(status.rawValue)")
        return true
    }()

    /// Whether the environment names a proxy that curl would use. `HTTP_PROXY` in capitals is not among them: a web
    /// server could set it from a request header.
    static let hasProxy: Bool = {
        let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        return names.contains { unsafe getenv($0) != nil }
    }()
}
