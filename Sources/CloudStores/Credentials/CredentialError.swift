/// Why a credential cannot be used at all: found before anything is asked. One line for people, which names the file,
/// the field and the way out; never any part of a key or token.
package struct CredentialError: Error, Sendable, Equatable, CustomStringConvertible {
    package let message: String

    init(_ message: String) { self.message = message }

    package var description: String { message }
}
