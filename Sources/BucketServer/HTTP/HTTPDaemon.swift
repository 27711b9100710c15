import CMicrohttpd
import Glibc

/// libmicrohttpd, listening: a few threads that each serve many connections by epoll.
@safe
final class HTTPDaemon: @unchecked Sendable {
    /// Connections at once, over all threads.
    private static let mostConnections: UInt32 = 4096
    /// Measured: 256 KiB a connection halves the requests per second; bodies stream through half of it.
    private static let memoryPerConnection = 65_536
    private static let threads: UInt32 = 4

    // Unchecked: libmicrohttpd's daemon may be stopped from any thread, once.
    private let daemon: OpaquePointer
    private let service: Service

    /// - Parameter socket: listens already; it is the daemon's from here on.
    init(service: Service, socket: ListeningSocket) throws(ServerError) {
        Self.allowManyFiles()
        var callbacks = unsafe firemount_httpd_callbacks(
            context: Unmanaged.passUnretained(service).toOpaque(), access: handleAccess, completed: handleCompletion,
            target: handleTarget)
        guard
            let daemon = unsafe firemount_httpd_start(
                socket.descriptor, Self.threads, Self.mostConnections, Self.memoryPerConnection, &callbacks)
        else {
            throw ServerError("cannot start the HTTP threads: \(unsafe String(cString: strerror(errno)))")
        }
        self.service = service
        unsafe self.daemon = daemon
    }

    /// Each connection may have a file open besides its socket: take what the system lets us have.
    private static func allowManyFiles() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Ends every connection. Call it once.
    func stop() {
        service.parkedConnections.close()
        unsafe MHD_stop_daemon(daemon)
    }
}

/// The request line has come; the URL is handed over as it was sent.
private func handleTarget(
    context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context, let target = unsafe target else { return nil }
    let service = unsafe Unmanaged<Service>.fromOpaque(context).takeUnretainedValue()
    let raw = unsafe Array(UnsafeRawBufferPointer(start: target, count: strlen(target)))
    return unsafe Unmanaged.passRetained(Exchange(service: service, rawTarget: raw)).toOpaque()
}

/// Called with the head, with each piece of the body, and at its end.
private func handleAccess(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, upload: UnsafePointer<CChar>?,
    uploadSize: UnsafeMutablePointer<Int>?, state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let connection = unsafe connection, let uploadSize = unsafe uploadSize, let pointer = unsafe state?.pointee,
        let method = unsafe method
    else { return .NO }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
    // A daemon that is stopping takes an answer, drops it, and asks again.
    guard !exchange.isAnswered else { return .NO }
    if exchange.isFresh || exchange.isDelayed {
        if exchange.isDelayed {
            exchange.open()
        } else if let delay = unsafe exchange.begin(method: String(cString: method), headers: headers(of: connection)) {
            unsafe exchange.parkedConnections.park(connection, for: delay)
            return .YES
        }
        if let response = exchange.earlyResponse { return unsafe send(response, of: exchange, on: connection) }
        return .YES
    }
    guard unsafe uploadSize.pointee > 0 else { return unsafe send(exchange.finish(), of: exchange, on: connection) }
    let progress = unsafe exchange.receive(UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee).bytes)
    unsafe uploadSize.pointee = 0
    switch progress {
    case .goOn: return .YES
    case .breakOff: return .NO
    case .pause(let duration):
        unsafe exchange.parkedConnections.park(connection, for: duration)
        return .YES
    }
}

private func handleCompletion(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let pointer = unsafe state?.pointee else { return }
    unsafe state?.pointee = nil
    unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue().end()
}

private func headers(of connection: OpaquePointer) -> Headers {
    var headers = Headers()
    unsafe withUnsafeMutablePointer(to: &headers) { pointer in
        _ = unsafe MHD_get_connection_values(
            connection, .HEADER_KIND,
            { context, _, name, value in
                guard let context = unsafe context, let name = unsafe name else { return .YES }
                let headers = unsafe context.assumingMemoryBound(to: Headers.self)
                unsafe headers.pointee.append(String(cString: name), value.map { unsafe String(cString: $0) } ?? "")
                return .YES
            }, pointer)
    }
    return headers
}
