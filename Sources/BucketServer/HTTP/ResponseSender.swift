import CMicrohttpd
import Glibc

/// Hands an answer to libmicrohttpd.
/// - Returns: `.NO` makes it close the connection without one.
func send(_ response: Response, of exchange: Exchange, on connection: OpaquePointer) -> MHD_Result {
    guard let answer = unsafe makeResponse(response.body, exchange.parkedConnections, connection) else {
        unsafe reset(connection)
        return .NO
    }
    defer { unsafe MHD_destroy_response(answer) }
    for header in response.headers { unsafe MHD_add_response_header(answer, header.name, header.value) }
    return unsafe MHD_queue_response(connection, UInt32(response.status), answer)
}

private func makeResponse(
    _ body: Response.Body, _ parkedConnections: ParkedConnections, _ connection: OpaquePointer
) -> OpaquePointer? {
    switch body {
    case .bytes(let bytes):
        // The pointer is only read: MUST_COPY makes libmicrohttpd copy before the call returns.
        return unsafe bytes.withUnsafeBytes { buffer in
            unsafe MHD_create_response_from_buffer(
                buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress), .RESPMEM_MUST_COPY)
        }
    case .file(let file, let offset, let length):
        // libmicrohttpd closes the descriptor that it is given.
        let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        return unsafe MHD_create_response_from_fd_at_offset64(UInt64(length), descriptor, UInt64(offset))
    case .stream(let source, let length):
        let context = unsafe Unmanaged.passRetained(StreamContext(source, parkedConnections, connection)).toOpaque()
        let size = length.map { UInt64($0) } ?? UInt64.max
        return unsafe MHD_create_response_from_callback(size, 65_536, readStream, context, freeStream)
    case .reset:
        return nil
    }
}

@safe
private final class StreamContext {
    let source: any ByteSource
    private let parkedConnections: ParkedConnections
    private let connection: OpaquePointer

    init(_ source: any ByteSource, _ parkedConnections: ParkedConnections, _ connection: OpaquePointer) {
        self.source = source
        self.parkedConnections = parkedConnections
        unsafe self.connection = connection
    }

    func pause(for duration: Duration) { unsafe parkedConnections.park(connection, for: duration) }
}

private func readStream(
    context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, size: Int
) -> Int {
    guard let context = unsafe context else { return endWithError }
    let stream = unsafe Unmanaged<StreamContext>.fromOpaque(context).takeUnretainedValue()
    switch stream.source.next(size) {
    case .bytes(let bytes):
        unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size).copyBytes(from: bytes)
        return bytes.count
    case .end: return endOfStream
    case .broken: return endWithError
    case .pause(let duration):
        stream.pause(for: duration)
        return 0
    }
}

private func freeStream(context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<StreamContext>.fromOpaque(context).release()
}

// MHD_CONTENT_READER_END_OF_STREAM and …_END_WITH_ERROR, which are casts that Swift does not import.
private let endOfStream = -1
private let endWithError = -2

/// Resets the connection. Closing it with a zero linger would not do: libmicrohttpd shuts it down in order first.
private func reset(_ connection: OpaquePointer) {
    // Linux: connecting a TCP socket to nowhere aborts what it was connected to.
    var nowhere = sockaddr()
    nowhere.sa_family = sa_family_t(AF_UNSPEC)
    unsafe connect(firemount_httpd_socket(connection), &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
}
