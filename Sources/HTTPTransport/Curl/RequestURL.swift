import CCurl
import Glibc

/// What must be known of a request's URL before curl gets it. curl's own parser answers, so that no two opinions about
/// the host exist.
package enum RequestURL {
    /// Whether the host is this machine: `localhost`, an address in 127.0.0.0/8, or `::1`.
    /// - Returns: nil if `url` is no URL.
    package static func isLoopback(_ url: String) -> Bool? {
        guard let parsed = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(parsed) }
        var host: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_set(parsed, CURLUPART_URL, url, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK,
            unsafe curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK, let host = unsafe host
        else { return nil }
        defer { unsafe curl_free(host) }
        return unsafe isLoopback(host: String(cString: host))
    }

    /// Whether `url` is spoken to without encryption.
    package static func isPlainHTTP(_ url: String) -> Bool { url.prefix(5).lowercased() == "http:" }

    /// The host and port of `url` for messages: without user, path and query.
    static func hostForPeople(_ url: String) -> String {
        let rest = url.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true).dropFirst().first
        let authority = rest?.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") } ?? Substring().utf8[...]
        let host = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last
        guard let host, !host.isEmpty else { return "the host" }
        return String(decoding: host, as: UTF8.self)
    }

    private static func isLoopback(host: String) -> Bool {
        var address = in_addr()
        if unsafe inet_pton(AF_INET, host, &address) == 1 { return UInt32(bigEndian: address.s_addr) >> 24 == 127 }
        return host.lowercased() == "localhost" || host == "[::1]"
    }
}
