import CISAL
import ObjectStore

/// A few bytes in memory to be stored: a link's target, a placeholder.
struct BytesSource: UploadSource {
    private let bytes: [UInt8]
    let crc32c: UInt32
    var size: Int64 { Int64(bytes.count) }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        crc32c = unsafe bytes.withUnsafeBytes { unsafe firemount_crc32c(0, $0.baseAddress, $0.count) }
    }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let part = bytes.dropFirst(Int(offset)).prefix(buffer.count)
        unsafe buffer.copyBytes(from: part)
        return part.count
    }
}

/// One state of a file with unsaved bytes. Reading fails as soon as the file was changed, so that bytes of two states
/// never make one object.
struct StagedSource: UploadSource {
    struct Changed: Error, CustomStringConvertible {
        var description: String { "the file was written while it was being stored" }
    }

    let contents: FileContents
    let snapshot: FileContents.Snapshot
    let crc32c: UInt32
    /// A frozen copy does not change with the file.
    let isFrozen: Bool
    var size: Int64 { snapshot.size }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = Int(min(Int64(buffer.count), size - offset))
        try unsafe snapshot.file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
        guard isFrozen || contents.isUnchanged(since: snapshot.version) else { throw Changed() }
        return count
    }
}
