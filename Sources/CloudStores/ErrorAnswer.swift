import CSimdjson
import HTTPTransport
import ObjectStore

/// An answer that says no. Here alone HTTP statuses and transport failures become `StorageError`s (PROTOCOL 4.10).
struct ErrorAnswer: Sendable, Equatable {
    let status: Int
    /// The first reason of a JSON error: `notFound`, `rateLimitExceeded` …
    let reason: String?
    /// The server's own words, or a phrase for the status.
    let message: String
    /// What the server asked for.
    let retryAfter: Duration?

    /// - Parameter body: JSON, plain text or HTML; it may be cut or empty.
    init(_ head: HTTPResponseHead, body: [UInt8]) {
        status = head.status
        retryAfter = Self.retryAfter(head)
        let (message, reason) = Self.read(body)
        self.reason = reason
        self.message = message.isEmpty ? Self.phrase(for: head.status) : message
    }

    /// Seconds, or a moment by the server's clock, which its `Date` tells (RFC 9110, 10.2.3).
    private static func retryAfter(_ head: HTTPResponseHead) -> Duration? {
        guard let text = head.first("retry-after") else { return nil }
        if let seconds = UInt32(text) { return .seconds(seconds) }
        guard let then = HTTPDate.moment(text), let now = head.first("date").flatMap(HTTPDate.moment) else {
            return nil
        }
        return .seconds(max(0, then.seconds - now.seconds))
    }

    /// Whether the request was only refused because there were too many.
    var isRateLimit: Bool {
        status == 429 || status == 403 && (reason == "rateLimitExceeded" || reason == "userRateLimitExceeded")
    }

    var failure: RetryPolicy.Failure { .answer(status: status, isRateLimit: isRateLimit, retryAfter: retryAfter) }

    func error(_ operation: String, _ object: ObjectName?) -> StorageError {
        StorageError(kind, operation: operation, object: object, httpStatus: status, message: message)
    }

    private var kind: StorageError.Kind {
        switch status {
        case 304, 412: .preconditionFailed
        case 401: .unauthenticated
        case 402: .quotaExceeded
        case 403 where isRateLimit: .rateLimited
        case 403 where reason == "quotaExceeded" || reason == "storageQuotaExceeded" || reason == "dailyLimitExceeded":
            .quotaExceeded
        case 403: .forbidden
        case 404, 410: .notFound
        case 405, 501: .unsupported
        case 408: .timedOut
        case 413: .tooLarge
        case 416: .rangeNotSatisfiable
        case 429: .rateLimited
        case 400...499: .invalidRequest
        case 500...599: .serverFailed
        // An answer that is no error, yet not the one that was due: a redirect, a body where none belongs.
        default: .malformedAnswer
        }
    }

    private static func read(_ body: [UInt8]) -> (message: String, reason: String?) {
        if let document = try? AnswerDocument(body, .error) {
            return (clean(document.errorMessage ?? ""), document.errorReason)
        }
        let text = String(decoding: body.prefix(1_000), as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first { !$0.allSatisfy(\.isWhitespace) } ?? ""
        // Pages for people (HTML, XML) say nothing in their first line.
        return line.contains("<") || line.contains("{") ? ("", nil) : (clean(String(line)), nil)
    }

    /// One line of bearable length for a log.
    private static func clean(_ text: String) -> String {
        String(text.prefix(300).map { $0.isNewline || $0.asciiValue.map { $0 < 0x20 } == true ? " " : $0 })
    }

    private static func phrase(for status: Int) -> String {
        switch status {
        case 300...399: "unexpected redirect or cache answer"
        case 401: "the credentials were refused"
        case 403: "permission denied"
        case 404: "not found"
        case 412: "precondition failed"
        case 416: "range not satisfiable"
        case 429: "too many requests"
        case 500...599: "the server failed"
        default: "unexpected status"
        }
    }
}

extension StorageError {
    init(_ error: TransportError, _ operation: String, _ object: ObjectName?) {
        let kind: Kind =
            switch error.kind {
            case .unresolved, .notConnected, .connectionLost, .insecure: .unreachable
            case .timedOut: .timedOut
            case .credentialsOverPlainHTTP: .unauthenticated
            case .malformed: .malformedAnswer
            case .bodySource: .sourceFailed
            case .cancelled: .cancelled
            }
        self.init(kind, operation: operation, object: object, message: error.message)
    }

    static func cancelled(_ operation: String, _ object: ObjectName?) -> StorageError {
        StorageError(.cancelled, operation: operation, object: object, message: "cancelled")
    }
}
