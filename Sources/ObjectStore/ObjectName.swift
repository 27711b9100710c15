/// The name of an object, as the bucket has it: bytes. Compared, hashed and sorted as bytes, never normalised
/// (Swift's `String` treats different spellings of one character as equal, a bucket does not).
package struct ObjectName: Hashable, Comparable, Sendable {
    /// Valid UTF-8 when it comes from a bucket; not checked here.
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
    package init(_ text: String) { bytes = Array(text.utf8) }

    package static func < (left: ObjectName, right: ObjectName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension ObjectName: CustomStringConvertible {
    /// For people and logs; bytes that are no UTF-8 show as U+FFFD.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}
