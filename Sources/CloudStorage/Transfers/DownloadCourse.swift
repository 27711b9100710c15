import ObjectStore

/// How far a download has come, over all its reads: what to ask for next, and what an ended read means. Calls nobody.
///
/// Invariant: the bytes that are there are all of one generation, from the object's start.
struct DownloadCourse {
    enum Conclusion {
        /// Whole, and of the announced checksum.
        case finished
        /// Ended because it was told to; what is there stays.
        case stopped
        /// What is there is of an old version: begin again.
        case startOver
        case failed(StorageError)
    }

    private let path: StoragePath
    /// At most so many bytes; nil: any number.
    private let maxSize: Int64?
    private var objectGeneration: ObjectGeneration?
    private var announcedChecksum: UInt32?
    private var checksum: UInt32 = 0
    private(set) var bytes = TransferredBytes()
    private var startsOver = 0

    /// An object that is replaced again and again is given up.
    private static let startOverLimit = 4

    init(_ path: StoragePath, maxSize: Int64?) {
        self.path = path
        self.maxSize = maxSize
    }

    /// The rest, of the version that is there.
    var nextRead: ReadRequest {
        ReadRequest(name: path.object, objectGeneration: objectGeneration, offset: bytes.completed)
    }

    /// Whether nothing is missing.
    var isWhole: Bool { objectGeneration != nil && bytes.completed == bytes.total }

    /// Whether no byte has come and none was promised.
    var isNew: Bool { objectGeneration == nil }

    /// - Throws: `.downloadSizeExceeded` when more is announced than is wanted.
    mutating func receive(_ head: ReadHead) throws(StorageError) {
        bytes.total = head.objectSize
        if let maxSize, head.objectSize > maxSize {
            throw .downloadSizeExceeded(total: head.objectSize, maxSize: maxSize)
        }
        objectGeneration = head.objectGeneration
        announcedChecksum = head.crc32c ?? announcedChecksum
    }

    mutating func receive(_ piece: UnsafeRawBufferPointer) throws(StorageError) {
        if let maxSize, bytes.completed + Int64(piece.count) > maxSize {
            throw .downloadSizeExceeded(total: bytes.completed + Int64(piece.count), maxSize: maxSize)
        }
        checksum = unsafe CRC32C.extend(checksum, by: piece)
        bytes.completed += Int64(piece.count)
    }

    /// What the end of a read means.
    mutating func conclude(_ result: Result<Void, ObjectStore::StorageError>) -> Conclusion {
        // One that was told to stop may have had everything already.
        guard !isWhole else { return isRight ? .finished : .failed(.nonMatchingChecksum) }
        switch result {
        // The store promises all that it announces.
        case .success: return .failed(.nonMatchingChecksum)
        case .failure(let error):
            switch error.kind {
            case .cancelled: return .stopped
            case .generationChanged: return startOver(error)
            // The generation that was asked for is gone; another may be there.
            case .notFound where !isNew, .rangeNotSatisfiable where !isNew: return startOver(error)
            default: return .failed(StorageError(error, at: path))
            }
        }
    }

    private var isRight: Bool { announcedChecksum.map { $0 == checksum } ?? true }

    private mutating func startOver(_ error: ObjectStore::StorageError) -> Conclusion {
        guard startsOver < Self.startOverLimit else { return .failed(StorageError(error, at: path)) }
        startsOver += 1
        objectGeneration = nil
        announcedChecksum = nil
        checksum = 0
        bytes = TransferredBytes()
        return .startOver
    }
}
