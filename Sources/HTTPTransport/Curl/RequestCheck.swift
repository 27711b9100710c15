/// What is refused before a byte leaves.
enum RequestCheck {
    /// - Throws: `.credentialsOverPlainHTTP`, or `.malformed` for a request that cannot be put on the wire as it is.
    static func check(_ request: HTTPRequest) throws(TransportError) {
        for header in request.headers where !isClean(header.name) || !isClean(header.value) {
            throw TransportError(.malformed, "a request header holds a line break or a zero byte")
        }
        if case .stream(_, let length) = request.body { precondition(length >= 0, "a body of \(length) bytes") }
        guard RequestURL.isPlainHTTP(request.url), holdsCredentials(request) else { return }
        guard RequestURL.isLoopback(request.url) == true else {
            throw TransportError(
                .credentialsOverPlainHTTP,
                "\(RequestURL.hostForPeople(request.url)) is asked over plain http: credentials only travel over https")
        }
    }

    private static func holdsCredentials(_ request: HTTPRequest) -> Bool {
        request.headers.contains { $0.name.lowercased() == "authorization" }
    }

    private static func isClean(_ text: String) -> Bool {
        !text.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 }
    }
}
