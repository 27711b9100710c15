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

/// A staging file that nobody writes any more.
struct FileSource: UploadSource {
    let file: StagingFile
    let size: Int64
    /// Where the content reads as zeros, whatever the file has there.
    let zeros: ByteRanges
    private(set) var crc32c: UInt32 = 0

    /// Reads all of it for its checksum.
    init(_ file: StagingFile, size: Int64, zeros: ByteRanges) throws(FileSystemError) {
        self.file = file
        self.size = size
        self.zeros = zeros
        var crc: UInt32 = 0
        try unsafe withPieces { piece throws(FileSystemError) in
            unsafe crc = firemount_crc32c(crc, piece.baseAddress, piece.count)
        }
        crc32c = crc
    }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = Int(min(Int64(buffer.count), size - offset))
        try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
        return count
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) {
        try unsafe file.read(into: buffer, at: offset)
        let range = offset..<offset + Int64(buffer.count)
        for gap in zeros.touching(range) where gap.overlaps(range) {
            let part = gap.clamped(to: range)
            let bytes = unsafe buffer[Int(part.lowerBound - offset)..<Int(part.upperBound - offset)]
            _ = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes).initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    /// Calls `body` with all bytes, in order.
    func withPieces(_ body: (UnsafeRawBufferPointer) throws(FileSystemError) -> Void) throws(FileSystemError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { unsafe buffer.deallocate() }
        var offset: Int64 = 0
        while offset < size {
            let count = Int(min(Int64(buffer.count), size - offset))
            let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            try unsafe fill(piece, at: offset)
            try unsafe body(UnsafeRawBufferPointer(piece))
            offset += Int64(count)
        }
    }
}

/// The bytes that a file with unsaved bytes has behind those of its base. Reading fails as soon as the file was
/// changed.
struct TailSource: UploadSource {
    let contents: FileContents
    let snapshot: FileContents.Snapshot
    let crc32c: UInt32
    var size: Int64 { snapshot.size - snapshot.untouchedBase }

    init(_ contents: FileContents, _ snapshot: FileContents.Snapshot) throws(FileSystemError) {
        self.contents = contents
        self.snapshot = snapshot
        crc32c = try snapshot.file.checksum(of: snapshot.untouchedBase..<snapshot.size)
    }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = Int(min(Int64(buffer.count), size - offset))
        try unsafe snapshot.file.read(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: snapshot.untouchedBase + offset)
        guard contents.isUnchanged(since: snapshot.version) else { throw StagedSource.Changed() }
        return count
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
