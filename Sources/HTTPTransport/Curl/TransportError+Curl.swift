import CCurl
import Glibc

extension TransportError {
    /// Why curl ended a request.
    /// - Parameter hasBegun: whether the request had begun to leave.
    init(_ code: CURLcode, _ easy: EasyHandle, host: String, hasBegun: Bool, connectLimit: Duration) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            self.init(.unresolved, easy.errorMessage)
        case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED:
            self.init(.malformed, "not a URL that can be asked")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CIPHER, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            self.init(.insecure, "\(host) is not trusted: \(easy.errorMessage)")
        case CURLE_SSL_CONNECT_ERROR:
            self = Self.handshakeFailure(easy.errorMessage, host: host)
        case CURLE_UNSUPPORTED_PROTOCOL where !hasBegun:
            self.init(.malformed, "only http and https can be asked")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_OUT_OF_MEMORY:
            self.init(.malformed, "\(host) sent an answer that breaks HTTP")
        case _ where hasBegun:
            self.init(.connectionLost, "the connection to \(host) broke: \(Self.words(code))")
        case CURLE_OPERATION_TIMEDOUT:
            self.init(.notConnected, "no connection to \(host) within \(connectLimit)")
        default:
            let reason = easy.systemError
            let words = reason == 0 ? Self.words(code) : unsafe String(cString: strerror(reason))
            self.init(.notConnected, "no connection to \(host): \(words)")
        }
    }

    /// A handshake that one side refused is final; one that merely broke off is not. curl has one code for both, but
    /// quotes OpenSSL's number ("error:0A…:") where OpenSSL gave a reason; an early end has a number of its own.
    private static func handshakeFailure(_ text: String, host: String) -> TransportError {
        let isRefused = text.contains("error:") && !text.contains("error:0A000126:")
        return TransportError(
            isRefused ? .insecure : .notConnected, "the TLS handshake with \(host) failed: \(text)")
    }

    private static func words(_ code: CURLcode) -> String {
        unsafe String(cString: curl_easy_strerror(code))
    }
}
