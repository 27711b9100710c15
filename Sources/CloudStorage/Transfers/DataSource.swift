import Foundation
import ObjectStore

/// Bytes in memory that are uploaded.
struct DataSource: UploadSource {
    private let data: Data
    let crc32c: UInt32

    init(_ data: Data) {
        self.data = data
        crc32c = unsafe data.withUnsafeBytes { unsafe CRC32C.extend(0, by: $0) }
    }

    var size: Int64 { Int64(data.count) }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let start = data.startIndex + Int(offset)
        return unsafe data.copyBytes(to: buffer, from: start..<min(data.endIndex, start + buffer.count))
    }
}
