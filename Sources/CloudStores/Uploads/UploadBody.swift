import HTTPTransport
import Locking
import ObjectStore

/// What an upload request carries: a piece of the source, with text around it in a multipart request. Streamed.
final class UploadBody: HTTPBodySource {
    struct Attempt {
        /// When the connection last took bytes; nil: not yet.
        var lastRead: Duration?
        /// The transport started over within the attempt, because a kept connection turned out to be closed. The server
        /// may have seen the request all the same.
        var wasRewound = false
        /// How many bytes of the body it took.
        fileprivate(set) var end: Int64 = 0
    }

    let length: Int64
    private let head: [UInt8]
    private let upload: Upload
    private let range: Range<Int64>
    private let tail: [UInt8]
    private let clock: RetryClock
    private let state = Lock(Attempt())

    /// - Parameter range: which of the source's bytes.
    init(
        _ upload: Upload, _ range: Range<Int64>, head: [UInt8] = [], tail: [UInt8] = [], clock: RetryClock
    ) {
        self.upload = upload
        self.range = range
        self.head = head
        self.tail = tail
        self.clock = clock
        length = Int64(head.count) + Int64(range.count) + Int64(tail.count)
    }

    var body: HTTPBody { .stream(self, length: length) }

    /// Where in the source it begins.
    var offset: Int64 { range.lowerBound }

    func beginAttempt() { state.withLock { $0 = Attempt() } }

    /// The connection has taken all of it: the server may act on it now.
    var hasLeft: Bool { state.withLock { $0.end >= length } }

    func attempt() -> Attempt { state.withLock { $0 } }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let bodyStart = Int64(head.count)
        let tailStart = bodyStart + Int64(range.count)
        let count: Int
        if offset < bodyStart {
            count = unsafe copy(head, from: Int(offset), into: buffer)
        } else if offset < tailStart {
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: tailStart - offset)))
            count = try unsafe upload.source.read(at: range.lowerBound + offset - bodyStart, into: room)
            upload.didSend(upTo: range.lowerBound + offset - bodyStart + Int64(count))
        } else {
            count = unsafe copy(tail, from: Int(offset - tailStart), into: buffer)
        }
        let now = clock.now()
        state.withLock { attempt in
            if offset < attempt.end { attempt.wasRewound = true }
            attempt.end = offset + Int64(count)
            attempt.lastRead = now
        }
        return count
    }

    private func copy(_ bytes: [UInt8], from start: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, bytes.count - start)
        guard count > 0 else { return 0 }
        unsafe buffer.copyBytes(from: bytes[start..<start + count])
        return count
    }
}
