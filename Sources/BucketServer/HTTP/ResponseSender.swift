import CMicrohttpd
import Glibc

/// Hands an answer to libmicrohttpd.
/// - Returns: `.NO` makes it close the connection without one.
func send(_ response: Response, on connection: OpaquePointer) -> MHD_Result {
    guard let answer = unsafe makeResponse(response.body, on: connection) else {
        unsafe prepareReset(connection)
        return .NO
    }
    defer { unsafe MHD_destroy_response(answer) }
    for header in response.headers { unsafe MHD_add_response_header(answer, header.name, header.value) }
    return unsafe MHD_queue_response(connection, UInt32(response.status), answer)
}

private func makeResponse(_ body: Response.Body, on connection: OpaquePointer) -> OpaquePointer? {
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
        let context = unsafe Unmanaged.passRetained(StreamContext(source)).toOpaque()
        let size = length.map { UInt64($0) } ?? UInt64.max
        return unsafe MHD_create_response_from_callback(size, 65_536, readStream, context, freeStream)
    case .reset:
        return nil
    }
}

private final class StreamContext {
    let source: any ByteSource

    init(_ source: any ByteSource) { self.source = source }
}

private func readStream(
    context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, size: Int
) -> Int {
    guard let context = unsafe context else { return endWithError }
    let stream = unsafe Unmanaged<StreamContext>.fromOpaque(context).takeUnretainedValue()
    switch unsafe stream.source.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size)) {
    case .bytes(let count): return count
    case .end: return endOfStream
    case .broken: return endWithError
    case .pause: return 0
    }
}

private func freeStream(context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<StreamContext>.fromOpaque(context).release()
}

// MHD_CONTENT_READER_END_OF_STREAM and …_END_WITH_ERROR, which are casts that Swift does not import.
private let endOfStream = -1
private let endWithError = -2

/// Makes closing the connection a reset instead of an orderly end.
private func prepareReset(_ connection: OpaquePointer) {
    var option = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(
        firemount_httpd_socket(connection), SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
}
