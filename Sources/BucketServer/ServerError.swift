/// Why the local server cannot start: one line that names the thing and the way out.
package struct ServerError: Error, CustomStringConvertible, Sendable {
    package let description: String

    init(_ description: String) { self.description = description }
}
