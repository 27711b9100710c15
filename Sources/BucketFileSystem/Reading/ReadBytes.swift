/// Bytes that were read, in the order of the file: pieces of several extents, kept alive by this value.
/// Their memory counts as used until the last copy of it is gone, so let go of it once the reply is out.
package struct ReadBytes: Sendable {
    package var pieces: [Piece]

    package var count: Int { pieces.reduce(0) { unsafe $0 + $1.bytes.count } }

    /// A run of bytes in memory that `owner` keeps alive and nobody changes.
    @safe
    package struct Piece: @unchecked Sendable {
        package let bytes: UnsafeRawBufferPointer
        package let owner: AnyObject
    }
}
