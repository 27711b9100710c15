/// Why no whole answer came. An answer with a bad status is no transport error.
package struct TransportError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The host has no address.
        case unresolved
        /// Nothing could be sent: refused, unreachable, connection not made in time. Always safe to send again.
        case notConnected
        /// The connection broke while the request was under way; the server may or may not have acted.
        case connectionLost
        /// The stall limit or the deadline passed; the server may or may not have acted.
        case timedOut
        /// The certificate or the TLS handshake was refused.
        case insecure
        /// Credentials were about to leave over plain http to a host that is not loopback. Nothing was sent.
        case credentialsOverPlainHTTP
        /// The answer breaks HTTP, or is larger than the caller allows.
        case malformed
        /// The request body's source threw.
        case bodySource
        case cancelled
    }

    package let kind: Kind
    /// For people: what went wrong and with which host. Holds no header, token or query.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }
}
