import CISAL
import Locking
import ObjectStore

/// The bytes of an object on their way into a copy of it: one piece of them in memory at a time, fetched before it is
/// sent. All pieces are of one generation, and together they must have its checksum before the last one is sent.
final class CopiedPieces: UploadSource {
    private struct State {
        var piece: [UInt8] = []
        var start: Int64 = 0
        /// Of the bytes before `checkedEnd`.
        var checksum: UInt32 = 0
        var checkedEnd: Int64 = 0

        var end: Int64 { start + Int64(piece.count) }

        /// Goes on with the checksum where this piece does.
        mutating func check() {
            guard start <= checkedEnd, checkedEnd < end else { return }
            let rest = piece[Int(checkedEnd - start)...]
            checksum = unsafe rest.withUnsafeBytes { bytes in
                unsafe firemount_crc32c(checksum, bytes.baseAddress, bytes.count)
            }
            checkedEnd = end
        }
    }

    struct NotPrepared: Error {}

    let size: Int64
    let crc32c: UInt32
    private let store: any ObjectStore
    private let name: ObjectName
    private let objectGeneration: ObjectGeneration
    private let state = Lock(State())

    init(of object: ObjectMetadata, crc32c: UInt32, in store: any ObjectStore) {
        self.store = store
        self.crc32c = crc32c
        name = object.name
        size = object.size
        objectGeneration = object.objectGeneration
    }

    /// Fetches the bytes of `range`, unless they are there.
    func prepare(_ range: Range<Int64>) async throws(StorageError) {
        let isThere = state.withLock { $0.start <= range.lowerBound && range.upperBound <= $0.end }
        guard !isThere, !range.isEmpty else { return }
        // Before the next piece comes, so that there are never two.
        state.withLock { $0.piece = [] }
        let request = ReadRequest(
            name: name, objectGeneration: objectGeneration, offset: range.lowerBound, count: Int64(range.count))
        let piece = try await PieceRead.run(request, from: store)
        guard piece.count == range.count else { throw damage("\(piece.count) bytes came instead of \(range.count)") }
        let checksum = state.withLock { state in
            state.piece = piece
            state.start = range.lowerBound
            state.check()
            return state.checkedEnd == size ? state.checksum : crc32c
        }
        guard checksum == crc32c else {
            throw damage("what came has the CRC32C \(checksum.checksumText) instead of \(crc32c.checksumText)")
        }
    }

    private func damage(_ message: String) -> StorageError {
        StorageError(.corrupted, operation: "read", object: name, message: message)
    }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try state.withLock { state in
            guard state.start <= offset, offset < state.end else { throw NotPrepared() }
            let from = Int(offset - state.start)
            let count = min(buffer.count, state.piece.count - from)
            unsafe buffer.copyBytes(from: state.piece[from..<from + count])
            return count
        }
    }
}
