import Locking
package import ObjectStore

/// An access token in a file that someone else keeps fresh: the bare token, or JSON with `access_token` and optionally
/// `expires_in` (counted from the file's last change) or `expiry` (RFC 3339, or seconds since 1970).
/// Read again when the file has changed, and when a server has refused the token.
package final class TokenFile: CredentialSource {
    private struct Held {
        let authorization: Authorization
        /// Seconds since 1970; nil: unknown.
        let expiry: Int64?
        let stamp: FileStamp?
    }

    private struct State {
        var held: Held
        var nextLook: ContinuousClock.Instant
        var rejected: Authorization?
    }

    /// A look at the file costs a system call: often enough for one that is changed every few minutes.
    static let lookInterval = Duration.seconds(1)

    private let path: String
    private let scheme: AuthorizationScheme
    private let clock: CredentialClock
    private let state: Lock<State>

    /// - Throws: when the file holds no token now.
    init(
        _ path: String, _ scheme: AuthorizationScheme = .bearer, clock: CredentialClock
    ) throws(CredentialError) {
        self.path = path
        self.scheme = scheme
        self.clock = clock
        let held = try Self.read(path, scheme)
        state = Lock(State(held: held, nextLook: clock.now().advanced(by: Self.lookInterval), rejected: nil))
    }

    package func cachedAuthorization() -> Authorization? {
        let now = clock.now()
        let (held, mustLook, rejected) = state.withLock { state in
            let mustLook = now >= state.nextLook
            if mustLook { state.nextLook = now.advanced(by: Self.lookInterval) }
            return (state.held, mustLook, state.rejected)
        }
        if held.authorization == rejected || isExpired(held) { return nil }
        return mustLook && FileStamp(path) != held.stamp ? nil : held.authorization
    }

    package func authorization(replacing rejected: Authorization?) async throws(StorageError) -> Authorization {
        let old = state.withLock { state in
            if let rejected { state.rejected = rejected }
            return state.held
        }
        let held = readAgain() ?? old
        let isRejected = state.withLock { state in
            state.held = held
            return held.authorization == state.rejected
        }
        if isRejected { throw failure("the server refuses the token in \(path); write a new one there") }
        if isExpired(held) { throw failure("the token in \(path) has expired; write a new one there") }
        return held.authorization
    }

    /// nil while the file holds no token: it may be half written, and the old one is good until refused.
    private func readAgain() -> Held? { try? Self.read(path, scheme) }

    private func isExpired(_ held: Held) -> Bool { held.expiry.map { clock.unixTime() >= $0 } ?? false }

    private func failure(_ message: String) -> StorageError {
        StorageError(.unauthenticated, operation: TokenService.operation, message: message)
    }

    // MARK: Reading

    private static func read(
        _ path: String, _ scheme: AuthorizationScheme
    ) throws(CredentialError) -> Held {
        // Taken first: a change while we read is seen at the next look.
        let stamp = FileStamp(path)
        let text = String(decoding: try CredentialFile.read(path), as: UTF8.self)
        let bare = text.drop(while: \.isWhitespace)
        let end = bare.lastIndex { !$0.isWhitespace }.map(bare.index(after:)) ?? bare.startIndex
        let trimmed = String(bare[..<end])
        guard trimmed.first == "{" else {
            guard let token = AccessToken(trimmed) else { throw noToken(path) }
            return Held(authorization: token.authorization(scheme, quotaProject: nil), expiry: nil, stamp: stamp)
        }
        guard let fields = JSONFields(Array(trimmed.utf8)), let token = AccessToken(fields) else { throw noToken(path) }
        let lifetime = token.lifetime.flatMap { lifetime in stamp.map { $0.modified + lifetime.components.seconds } }
        return Held(
            authorization: token.authorization(scheme, quotaProject: fields.string("quota_project_id")),
            expiry: expiry(fields) ?? lifetime, stamp: stamp)
    }

    private static func expiry(_ fields: JSONFields) -> Int64? {
        if let seconds = fields.number("expiry") { return Int64(exactly: seconds.rounded()) }
        return fields.string("expiry").flatMap { Timestamp(rfc3339: $0)?.seconds }
    }

    private static func noToken(_ path: String) -> CredentialError {
        CredentialError(
            "\(path): holds no access token; write the bare token on one line, or JSON with the field \"access_token\"")
    }
}
