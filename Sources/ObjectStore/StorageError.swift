/// Why an operation on a bucket failed, whatever protocol was spoken.
package struct StorageError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        case notFound
        case forbidden
        /// Not signed in, or still refused after one refresh of the credential.
        case unauthenticated
        case preconditionFailed
        /// The server refused the request as it was put (400 and kin): name, argument or state.
        case invalidRequest
        case tooLarge
        case quotaExceeded
        /// Still asked to slow down when the retry time was over.
        case rateLimited
        /// A range that begins at or after the end of the object.
        case rangeNotSatisfiable
        /// Another generation answered than the one that was asked for.
        case generationChanged
        /// Bytes, length or checksum differ from what was announced.
        case corrupted
        /// The answer makes no sense: bad JSON, missing fields, 200 with an error in its body.
        case malformedAnswer
        /// The server kept failing (5xx) until the retry time was over.
        case serverFailed
        /// No connection, or it kept breaking, until the retry time was over.
        case unreachable
        case timedOut
        /// The local source of an upload could not be read.
        case sourceFailed
        case unsupported
        case cancelled
    }

    package let kind: Kind
    /// What was tried, in words of this layer: `insert`, `list` …
    package let operation: String
    package let object: ObjectName?
    package let httpStatus: Int?
    /// The server's or the system's own words. Never a token, never a URL with a query.
    package let message: String

    package init(
        _ kind: Kind, operation: String, object: ObjectName? = nil, httpStatus: Int? = nil, message: String
    ) {
        self.kind = kind
        self.operation = operation
        self.object = object
        self.httpStatus = httpStatus
        self.message = message
    }

    package var description: String {
        let target = object.map { " \($0)" } ?? ""
        let status = httpStatus.map { " (HTTP \($0))" } ?? ""
        return "\(operation)\(target): \(message)\(status)"
    }
}
