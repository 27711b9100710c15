import HTTPTransport
import Logging
import ObjectStore

/// Asks services for access tokens, and again where the rules allow (PROTOCOL: Google OAuth2 credentials, retry).
struct TokenService: Sendable {
    static let googleEndpoint = "https://oauth2.googleapis.com/token"
    /// How errors of this layer name what was tried.
    static let operation = "get access token"
    static let tries = 3
    /// For all tries together: the command promises an answer within ten seconds.
    static let patience = Duration.seconds(9)
    /// A token answer has a few KiB; an identity token may come along.
    static let answerLimit = 256 << 10

    let transport: any HTTPTransport
    let log: Logger
    var clock = CredentialClock.system

    /// Whether secrets may be sent to `endpoint`: over https, or in the clear to this machine.
    static func mayBeAsked(_ endpoint: String) -> Bool {
        if endpoint.lowercased().hasPrefix("https://") { return true }
        return RequestURL.isPlainHTTP(endpoint) && RequestURL.isLoopback(endpoint) == true
    }

    /// Posts `form` to `endpoint`.
    func token(posting form: [(name: String, value: String)], to endpoint: String) async throws(StorageError)
        -> AccessToken
    {
        let text = form.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
        let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")]
        return try await token(HTTPRequest(.post, endpoint, headers: headers, body: .bytes(Array(text.utf8))))
    }

    /// Sends `request`, up to three times.
    func token(_ request: HTTPRequest) async throws(StorageError) -> AccessToken {
        guard let token = AccessToken(try await fields(request)) else { throw TokenFailure.noToken.error }
        return token
    }

    /// Sends `request`, up to three times; answers the JSON that came.
    func fields(_ request: HTTPRequest) async throws(StorageError) -> JSONFields {
        let end = clock.now().advanced(by: Self.patience)
        var delay = Duration.seconds(1)
        for number in 1... {
            var request = request
            request.deadline = max(.milliseconds(1), clock.now().duration(to: end))
            let failure: TokenFailure
            do throws(TokenFailure) {
                return try await attempt(request)
            } catch {
                failure = error
            }
            let pause = delay * Double.random(in: 0.9...1.1)
            guard failure.isTransient, number < Self.tries, clock.now().advanced(by: pause) < end else {
                throw failure.error
            }
            log(.debug, "\(failure.error); asking again")
            await clock.sleep(pause)
            delay *= 2
        }
        preconditionFailure("the loop returns or throws")
    }

    private func attempt(_ request: HTTPRequest) async throws(TokenFailure) -> JSONFields {
        let answer: HTTPAnswer
        do throws(TransportError) {
            answer = try await transport.answer(to: request, bodyLimit: Self.answerLimit)
        } catch {
            throw TokenFailure(error)
        }
        let fields = JSONFields(answer.body)
        guard answer.status == 200 else { throw TokenFailure(status: answer.status, fields) }
        guard let fields else { throw TokenFailure.noToken }
        return fields
    }
}

/// Why one try brought no token.
struct TokenFailure: Error {
    let error: StorageError
    /// Another try may bring one.
    let isTransient: Bool

    static let noToken = TokenFailure(.malformedAnswer, "the answer holds no usable access token", isTransient: false)

    private static let transientStatuses: Set<Int> = [408, 429, 500, 503]
    private static let transientCodes: Set<String> = ["internal_failure", "server_error", "temporarily_unavailable"]

    init(_ kind: StorageError.Kind, _ message: String, status: Int? = nil, isTransient: Bool) {
        error = StorageError(kind, operation: TokenService.operation, httpStatus: status, message: message)
        self.isTransient = isTransient
    }

    /// - Parameter fields: the answer's body, if it was JSON.
    init(status: Int, _ fields: JSONFields?) {
        // Firebase's services put an object there (PROTOCOL 3.1).
        let code = fields?.string("error") ?? fields?.object("error")?.string("message")
        let isTransient = Self.transientStatuses.contains(status) || code.map(Self.transientCodes.contains) ?? false
        let kind: StorageError.Kind = isTransient || status >= 500 ? .unreachable : .unauthenticated
        let words = [code, fields?.string("error_description")].compactMap { $0 }.map(Self.oneLine)
        let message = words.isEmpty ? "the token service refused" : words.joined(separator: ": ")
        self.init(kind, message, status: status, isTransient: isTransient)
    }

    init(_ failure: TransportError) {
        switch failure.kind {
        case .unresolved, .notConnected, .connectionLost:
            self.init(.unreachable, failure.message, isTransient: true)
        case .insecure, .credentialsOverPlainHTTP, .bodySource:
            self.init(.unreachable, failure.message, isTransient: false)
        case .timedOut: self.init(.timedOut, failure.message, isTransient: false)
        case .malformed: self.init(.malformedAnswer, failure.message, isTransient: false)
        case .cancelled: self.init(.cancelled, failure.message, isTransient: false)
        }
    }

    /// A server's words as part of a line.
    private static func oneLine(_ text: String) -> String {
        String(text.prefix(300).map { $0.isNewline ? " " : $0 })
    }
}
