import Glibc

/// Bytes on their way to become an object's content: a file of their own, hashed while it grows.
///
/// One owner, one thread at a time. Unless it is published or kept, the file goes when the owner lets go.
final class StagedContent {
    /// Resumable uploads keep whole multiples of this (PROTOCOL 4.5, chunk size).
    static let granule: Int64 = 262_144

    let path: String
    private(set) var size: Int64 = 0
    private let descriptor: Int32
    private var checksums: RunningChecksums
    private var checksumsAtGranule: RunningChecksums
    private var isPublished = false
    private let keepsFile: Bool
    /// Where the bytes end that an object has already; cut off there again if nothing comes of this.
    private let ownedByObject: Int64?

    /// - Parameter keepsFile: leave the file on disk when the owner lets go, to be taken up again after a restart.
    init(path: String, computesMD5: Bool, keepsFile: Bool = false) throws(APIError) {
        let descriptor = unsafe path.withCString { unsafe open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { throw Self.diskError("create", path) }
        self.path = path
        self.descriptor = descriptor
        self.keepsFile = keepsFile
        ownedByObject = nil
        checksums = RunningChecksums(computesMD5: computesMD5)
        checksumsAtGranule = checksums.copy()
    }

    /// Goes on behind the bytes of an object, in the object's own file.
    /// - Parameter path: another name of that file.
    init(continuing path: String, size: Int64, crc32c: UInt32) throws(APIError) {
        let descriptor = unsafe path.withCString { unsafe open($0, O_RDWR | O_CLOEXEC) }
        guard descriptor >= 0 else { throw Self.diskError("open", path) }
        self.path = path
        self.descriptor = descriptor
        self.size = size
        keepsFile = false
        ownedByObject = size
        checksums = RunningChecksums(after: crc32c)
        checksumsAtGranule = checksums.copy()
    }

    deinit {
        if !isPublished, let ownedByObject { ftruncate(descriptor, off_t(ownedByObject)) }
        close(descriptor)
        if !isPublished, !keepsFile { unsafe unlink(path) }
    }

    /// Adds bytes at the end.
    /// - Throws: 500 or 507 when the disk does not take them; what was written before stays.
    func append(_ bytes: RawSpan) throws(APIError) {
        try write(bytes)
        var rest = bytes
        while rest.byteCount > 0 {
            let piece = rest.extracting(first: min(rest.byteCount, Int(Self.granule - size % Self.granule)))
            checksums.update(piece)
            size += Int64(piece.byteCount)
            if size % Self.granule == 0 { checksumsAtGranule = checksums.copy() }
            rest = rest.extracting(droppingFirst: piece.byteCount)
        }
    }

    func append(_ bytes: ArraySlice<UInt8>) throws(APIError) { try unsafe append(bytes.span.bytes) }

    /// Forgets what goes beyond the last whole granule, as the service does at the end of a chunk.
    func dropPartialGranule() {
        guard size % Self.granule != 0 else { return }
        size -= size % Self.granule
        checksums = checksumsAtGranule.copy()
        ftruncate(descriptor, off_t(size))
    }

    /// Takes up what an earlier run of the server left in the file.
    func readBack() throws(APIError) {
        var info = stat()
        unsafe fstat(descriptor, &info)
        var rest = Int64(info.st_size)
        rest -= rest % Self.granule
        ftruncate(descriptor, off_t(rest))
        let file = OpenFile(path: path)
        while rest > 0, let piece = file?.bytes(at: size, count: Int(min(rest, Self.granule))), !piece.isEmpty {
            unsafe checksums.update(piece.span.bytes)
            size += Int64(piece.count)
            rest -= Int64(piece.count)
        }
        checksumsAtGranule = checksums.copy()
    }

    func checksumsSoFar() -> Checksums { checksums.value() }

    /// Moves the file to where it stays.
    func publish(as destination: String) throws(APIError) {
        guard unsafe rename(path, destination) == 0 else { throw Self.diskError("publish", destination) }
        isPublished = true
    }

    /// Removes the file although it was to be kept.
    func discard() { unsafe unlink(path) }

    private func write(_ bytes: RawSpan) throws(APIError) {
        var written = 0
        while written < bytes.byteCount {
            let rest = bytes.extracting(droppingFirst: written)
            let offset = off_t(size) + off_t(written)
            let count = unsafe rest.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, offset) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.diskError("write", path) }
            written += count
        }
    }

    static func diskError(_ action: String, _ path: String) -> APIError {
        let code = errno
        let reason = unsafe String(cString: strerror(code))
        return APIError(
            status: code == ENOSPC || code == EDQUOT ? 507 : 500, reason: "backendError",
            message: "Cannot \(action) \(path): \(reason)")
    }
}
