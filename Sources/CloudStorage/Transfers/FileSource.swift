import Foundation
import Locking
import ObjectStore

/// A local file that is uploaded: read piece by piece as it is sent, so that any size fits in memory. It must stay as
/// it is until the upload has ended.
final class FileSource: UploadSource {
    struct Changed: Error, CustomStringConvertible {
        let description = "The file was changed while it was being uploaded."
    }

    /// Over the bytes before `end`, made while they are read for the first time.
    private struct Checksum {
        var end: Int64 = 0
        var value: UInt32 = 0

        mutating func add(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
            guard offset <= end, offset + Int64(bytes.count) > end else { return }
            unsafe value = CRC32C.extend(value, by: UnsafeRawBufferPointer(rebasing: bytes[Int(end - offset)...]))
            end = offset + Int64(bytes.count)
        }
    }

    let size: Int64
    private let file: LocalFile
    private let stamp: LocalFile.Stamp
    private let checksum = Lock(Checksum())

    /// - Throws: `.unknown` if there is no regular file at `url`.
    init(_ url: URL) throws(StorageError) {
        guard let path = url.localPath, let file = try? LocalFile(reading: path), let stamp = try? file.stamp(),
            stamp.isRegular
        else { throw Self.unreachable(url) }
        self.file = file
        self.stamp = stamp
        size = stamp.size
    }

    private static func unreachable(_ url: URL) -> StorageError {
        .unknown(
            message: "File at URL: \(url.absoluteString) is not reachable. Ensure file URL is not a directory, "
                + "symbolic link, or invalid url.", serverError: [:])
    }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: size - offset)))
        let count = try unsafe file.read(at: offset, into: room)
        // Before the last bytes leave: without them nothing is stored.
        guard unsafe count > 0 || room.isEmpty, try offset + Int64(count) < size || file.stamp() == stamp else {
            throw Changed()
        }
        checksum.withLock { unsafe $0.add(UnsafeRawBufferPointer(rebasing: room[..<count]), at: offset) }
        return count
    }

    /// Reads what no request has read yet; where that fails, it is the checksum of something else, and the upload with
    /// it.
    var crc32c: UInt32 {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { unsafe buffer.deallocate() }
        while true {
            let end = checksum.withLock { $0.end }
            guard end < size, let count = try? unsafe read(at: end, into: buffer), count > 0 else {
                return checksum.withLock { $0.value }
            }
        }
    }
}
