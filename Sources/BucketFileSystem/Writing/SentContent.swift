import ObjectStore

/// The content of an upload, as the bucket would tell it.
struct SentContent: Sendable {
    let size: Int64
    let crc32c: UInt32

    func isThat(of object: ObjectMetadata) -> Bool { object.size == size && object.crc32c == crc32c }
}
