import CISAL
import ObjectStore
import Testing

/// An upload's bytes from memory.
struct BytesSource: UploadSource {
    let bytes: [UInt8]
    let crc32c: UInt32

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        crc32c = checksum(of: bytes)
    }

    var size: Int64 { Int64(bytes.count) }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = min(buffer.count, bytes.count - Int(offset))
        unsafe buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + count])
        return count
    }
}

func checksum(of bytes: [UInt8]) -> UInt32 {
    unsafe bytes.withUnsafeBytes { buffer in unsafe firemount_crc32c(0, buffer.baseAddress, buffer.count) }
}

extension Upload {
    init(
        _ name: String, _ bytes: [UInt8], headers: ObjectHeaders = ObjectHeaders(contentType: "text/plain"),
        if precondition: Precondition = .mustNotExist, progress: (@Sendable (Int64) -> Void)? = nil
    ) {
        self.init(
            name: ObjectName(name), headers: headers, precondition: precondition, source: BytesSource(bytes),
            progress: progress)
    }

    init(_ name: String, _ text: String, if precondition: Precondition = .mustNotExist) {
        self.init(name, Array(text.utf8), if: precondition)
    }
}

/// What a call failed with; nil when it did not fail.
func failure(of call: @autoclosure () async throws -> some Any) async -> StorageError? {
    do {
        _ = try await call()
        return nil
    } catch let error as StorageError {
        return error
    } catch {
        Issue.record("not a StorageError: \(error)")
        return nil
    }
}
