/// The name of one directory entry, as the kernel gives it: bytes without `/` and NUL, not empty.
package struct EntryName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
    package init(_ text: String) { bytes = Array(text.utf8) }

    package static func < (left: EntryName, right: EntryName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// `NAME_MAX`, in bytes.
    static let longest = 255

    package var description: String { String(decoding: bytes, as: UTF8.self) }
}
