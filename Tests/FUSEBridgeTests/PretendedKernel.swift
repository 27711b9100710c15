import BucketFileSystem
import CFUSE
import Glibc
import Logging
import TestSupport

@testable import FUSEBridge

/// A session whose kernel is the test: it hands requests to libfuse and looks at what comes back. Numbers and layouts
/// are those of linux/fuse.h.
final class PretendedKernel {
    struct Answer: Equatable {
        var request: UInt64
        /// 0, or a negated error number.
        var error: Int32
        var bytes: [UInt8]
    }

    let log = CollectedLog()
    let store = InMemoryStore()
    private let session: Session
    private let ourEnd: Int32
    private let staging = temporaryDirectory()

    /// - Parameter operations: what answers the requests, set on an empty table.
    init(_ operations: (inout fuse_lowlevel_ops) -> Void) {
        var table = fuse_lowlevel_ops()
        operations(&table)
        let journal = try! Journal(in: staging.path, for: JournalOwner(bucket: "test", endpoint: "http://test"))
        let fileSystem = FileSystem(
            store: store, configuration: Configuration(), journal: journal, kernelCache: KernelCacheQueue(),
            log: log.logger)
        let options = MountOptions(mountPoint: "", source: "test")
        session = Session(options: options, fileSystem: fileSystem, log: log.logger, operations: table)!
        var ends: [Int32] = [-1, -1]
        precondition(unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        ourEnd = ends[0]
        var io = fuse_custom_io()
        unsafe io.writev = { descriptor, vector, count, _ in unsafe writev(descriptor, vector, count) }
        unsafe io.read = { descriptor, buffer, count, _ in unsafe read(descriptor, buffer, count) }
        // libfuse owns its end from here.
        precondition(unsafe fuse_session_custom_io(session.raw, &io, ends[1]) == 0)
        initialize()
        _ = nextAnswer()
    }

    deinit { close(ourEnd) }

    /// FUSE_GETATTR.
    func askForAttributes(of inode: UInt32 = 1) { send(3, inode: inode, bytes([0, 0, 0, 0])) }

    /// FUSE_GETXATTR of the root, with room for 100 bytes.
    func askForExtendedAttribute(_ name: String) { send(22, inode: 1, bytes([100, 0]) + name.utf8 + [0]) }

    /// What was answered first of what was not yet looked at; nil if nothing was.
    func nextAnswer() -> Answer? {
        var message = [UInt8](repeating: 0, count: 1 << 20)
        let count = unsafe recv(ourEnd, &message, message.count, Int32(MSG_DONTWAIT))
        // fuse_out_header: length, error, request.
        guard count >= 16 else { return nil }
        return unsafe message.withUnsafeBytes { bytes in
            unsafe Answer(
                request: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                error: bytes.loadUnaligned(fromByteOffset: 4, as: Int32.self), bytes: Array(bytes[16..<count]))
        }
    }

    private var requests: UInt32 = 0

    /// FUSE_INIT, protocol 7.31, nothing offered but a read-ahead of 128 KiB.
    private func initialize() { send(26, inode: 0, bytes([7, 31, 1 << 17, 0])) }

    private func bytes(_ words: [UInt32]) -> [UInt8] {
        words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    private func send(_ opcode: UInt32, inode: UInt32, _ body: [UInt8]) {
        requests += 1
        // fuse_in_header: length, opcode, request (64 bits), inode (64 bits), user, group, process, padding.
        let header = [UInt32(40 + body.count), opcode, requests, 0, inode, 0, 0, 0, UInt32(getpid()), 0]
        var message = bytes(header) + body
        unsafe message.withUnsafeMutableBytes { bytes in
            var buffer = unsafe fuse_buf()
            unsafe buffer.size = bytes.count
            unsafe buffer.mem = bytes.baseAddress
            unsafe fuse_session_process_buf(session.raw, &buffer)
        }
    }
}
