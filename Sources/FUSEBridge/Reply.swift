import BucketFileSystem
import CFUSE
import Glibc
import Logging
import ObjectStore

/// The one answer that a request is owed. Each way to answer consumes it, so a second answer does not compile; dropped
/// unanswered it answers EIO and logs, so no caller hangs.
///
/// It may be moved to another thread: libfuse takes replies from any. It keeps the session alive, which libfuse's reply
/// functions write to.
///
/// Answers that give the kernel something to return later (a lookup, a handle) say whether the kernel took them. It
/// does not if the request was aborted meanwhile, and then never sends the matching `forget` or `release`.
@safe
struct Reply: ~Copyable, @unchecked Sendable {
    let session: Session
    let operation: Operation
    private let request: OpaquePointer
    private var isOwed = true
    private var isWatched = false

    init(_ request: OpaquePointer, _ session: Session, _ operation: Operation) {
        unsafe self.request = request
        self.session = session
        self.operation = operation
    }

    deinit {
        guard isOwed else { return }
        session.log(.error, "\(operation): dropped without an answer")
        unsafe fuse_reply_err(request, Errno.unanswered.rawValue)
    }

    // MARK: Failure

    /// Logs what the disk or the bucket did wrong; what programs meet every day (no such name) is not worth a line.
    consuming func fail(_ error: FileSystemError) {
        switch error {
        case .storage(let failure) where failure.kind != .notFound && failure.kind != .cancelled:
            session.log(.warning, "\(operation): \(failure)")
        case .staging(let cause):
            session.log(.warning, "\(operation): staging: \(cause)")
        default:
            session.log(.trace, "\(operation): \(error)")
        }
        fail(Errno(error))
    }

    consuming func fail(_ number: Errno) {
        isOwed = false
        unsafe fuse_reply_err(request, number.rawValue)
    }

    // MARK: Success

    consuming func done() {
        isOwed = false
        unsafe fuse_reply_err(request, 0)
    }

    consuming func entry(_ entry: Entry) -> Bool {
        isOwed = false
        var answer = fuse_entry_param(entry)
        return unsafe fuse_reply_entry(request, &answer) == 0
    }

    /// The name does not exist, and the kernel may believe so for a while.
    consuming func absent(validFor: Duration) {
        guard validFor > .zero else { return fail(.notFound) }
        isOwed = false
        // Inode 0 with a timeout is a negative entry (fuse_lowlevel.h: fuse_entry_param.ino).
        var answer = fuse_entry_param()
        answer.entry_timeout = validFor.inSeconds
        unsafe fuse_reply_entry(request, &answer)
    }

    consuming func attributes(_ expiring: ExpiringAttributes) {
        isOwed = false
        var answer = expiring.attributes.kernelForm
        unsafe fuse_reply_attr(request, &answer, expiring.validFor.inSeconds)
    }

    consuming func target(_ target: [UInt8]) {
        isOwed = false
        unsafe withCString(target) { unsafe fuse_reply_readlink(request, $0) }
    }

    consuming func opened(_ file: OpenedFile) -> Bool {
        isOwed = false
        var answer = fuse_file_info(file)
        return unsafe fuse_reply_open(request, &answer) == 0
    }

    consuming func openedDirectory(_ handle: HandleID) -> Bool {
        isOwed = false
        var answer = fuse_file_info()
        answer.fh = handle.rawValue
        return unsafe fuse_reply_open(request, &answer) == 0
    }

    consuming func created(_ entry: Entry, _ file: OpenedFile) -> Bool {
        isOwed = false
        var entryAnswer = fuse_entry_param(entry)
        var fileAnswer = fuse_file_info(file)
        return unsafe fuse_reply_create(request, &entryAnswer, &fileAnswer) == 0
    }

    consuming func wrote(_ count: Int) {
        isOwed = false
        unsafe fuse_reply_write(request, count)
    }

    consuming func statistics(_ statistics: FileSystemStatistics) {
        isOwed = false
        var answer = statvfs(statistics)
        unsafe fuse_reply_statfs(request, &answer)
    }

    /// The pieces, in their order, straight from the memory that their owners keep.
    consuming func bytes(_ bytes: ReadBytes) {
        isOwed = false
        let request = unsafe request
        withExtendedLifetime(bytes) {
            if bytes.pieces.count == 1 {
                let piece = unsafe bytes.pieces[0].bytes
                unsafe fuse_reply_buf(request, piece.baseAddress?.assumingMemoryBound(to: CChar.self), piece.count)
            } else if bytes.pieces.count <= Reply.largestVector {
                unsafe Reply.gather(bytes.pieces, into: request)
            } else {
                unsafe Reply.copy(bytes.pieces, into: request)
            }
        }
    }

    consuming func directory(_ buffer: DirectoryBuffer) -> Bool {
        isOwed = false
        let filled = unsafe buffer.filled
        return unsafe fuse_reply_buf(request, filled.baseAddress, filled.count) == 0
    }

    /// An extended attribute, or the list of them.
    /// - Parameter capacity: of the caller's buffer; 0 asks for the size alone.
    consuming func extendedAttribute(_ value: [UInt8], capacity: Int) {
        guard capacity > 0 else {
            isOwed = false
            unsafe fuse_reply_xattr(request, value.count)
            return
        }
        guard value.count <= capacity else { return fail(.bufferTooSmall) }
        isOwed = false
        unsafe value.withUnsafeBytes { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            _ = unsafe fuse_reply_buf(request, start, bytes.count)
        }
    }

    // MARK: Interrupts

    /// Has `action` called with `data` when the kernel says that a signal reached the caller; at once if it already
    /// has.
    mutating func watch(_ data: UnsafeMutableRawPointer, _ action: fuse_interrupt_func_t) {
        isWatched = true
        unsafe fuse_req_interrupt_func(request, action, data)
    }

    /// When this returns, `action` is not running and will not run.
    mutating func endWatch() {
        guard isWatched else { return }
        isWatched = false
        unsafe fuse_req_interrupt_func(request, nil, nil)
    }

    // MARK: -

    /// `writev` takes at most IOV_MAX (1,024) pieces, and libfuse adds one for its header.
    private static let largestVector = 1_000

    private static func gather(_ pieces: [ReadBytes.Piece], into request: OpaquePointer) {
        unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: pieces.count) { vector in
            for (index, piece) in pieces.enumerated() {
                let start = unsafe UnsafeMutableRawPointer(mutating: piece.bytes.baseAddress)
                let element = unsafe iovec(iov_base: start, iov_len: piece.bytes.count)
                unsafe vector.initializeElement(at: index, to: element)
            }
            _ = unsafe fuse_reply_iov(request, vector.baseAddress, Int32(pieces.count))
        }
    }

    private static func copy(_ pieces: [ReadBytes.Piece], into request: OpaquePointer) {
        var joined: [CChar] = []
        for piece in pieces { unsafe joined.append(contentsOf: piece.bytes.bindMemory(to: CChar.self)) }
        unsafe fuse_reply_buf(request, joined, joined.count)
    }
}
