/// An object's name: exact bytes, never normalised. PROTOCOL 4.9 says which are legal.
struct ObjectName: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    static let longest = 1024

    /// A name from outside.
    /// - Throws: 400 `invalid` for what the API does not take as a name.
    init(validating text: String) throws(APIError) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { throw .required("name") }
        guard bytes.count <= Self.longest else { throw .invalid("The object name is longer than 1024 bytes.") }
        guard !bytes.contains(0x0A), !bytes.contains(0x0D) else {
            throw .invalid("Object names cannot contain carriage returns or line feeds.")
        }
        guard bytes != [0x2E], bytes != [0x2E, 0x2E] else { throw .invalid("Object names cannot be '.' or '..'.") }
        guard !bytes.starts(with: ".well-known/acme-challenge/".utf8) else {
            throw .invalid("Object names cannot start with .well-known/acme-challenge/.")
        }
        self.bytes = bytes
    }

    /// A name that was checked when it was stored.
    init(stored bytes: [UInt8]) { self.bytes = bytes }

    /// The same bytes: only valid UTF-8 becomes a name.
    var description: String { String(decoding: bytes, as: UTF8.self) }
}
