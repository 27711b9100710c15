import Glibc
import Locking

/// A TCP server on a loopback port that answers with exactly the bytes a test writes. Each connection runs `script` on
/// a thread of its own; all ends with the server.
@safe
final class RawServer: Sendable {
    typealias Script = @Sendable (RawConnection) -> Void

    private struct State {
        var connections: [RawConnection] = []
        var isClosed = false
    }

    let port: UInt16
    private let listener: Int32
    private let state: Lock<State>

    init(_ script: @escaping Script) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                precondition(unsafe bind(listener, pointer, size) == 0 && listen(listener, 256) == 0)
                precondition(unsafe getsockname(listener, pointer, &size) == 0)
            }
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        state = Lock(State())
        RawThread.run { [self] in accept(script) }
    }

    /// How many connections have been accepted so far.
    var connectionCount: Int { state.withLock { $0.connections.count } }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Takes no more connections and ends those that stand.
    func close() {
        let connections = state.withLock { state in
            let first = !state.isClosed
            state.isClosed = true
            return first ? state.connections : []
        }
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in connections { connection.close() }
    }

    private func accept(_ script: @escaping Script) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { break }
            let connection = RawConnection(descriptor)
            let isClosed = state.withLock { state in
                state.connections.append(connection)
                return state.isClosed
            }
            if isClosed { connection.close() }
            RawThread.run {
                script(connection)
                connection.close()
            }
        }
        Glibc.close(listener)
    }
}

/// A request as it came over the wire.
struct RawRequest: Sendable {
    let head: String
    let body: [UInt8]

    var line: String { String(head.prefix { $0 != "\r\n" }) }

    var headerLines: [String] { head.split(separator: "\r\n").dropFirst().map(String.init) }

    func value(_ name: String) -> String? {
        headerLines.first { $0.lowercased().hasPrefix(name.lowercased() + ":") }.map {
            $0.dropFirst(name.count + 1).trimmingPrefix(" ").description
        }
    }
}

/// The server's end of one connection.
@safe
final class RawConnection: Sendable {
    private let descriptor: Int32
    private let isClosed = Lock(false)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { Glibc.close(descriptor) }

    /// Reads one request with a body of its `Content-Length`; nil when the peer has closed.
    func readRequest() -> RawRequest? {
        guard let head = readHead() else { return nil }
        let request = RawRequest(head: head, body: [])
        guard let length = request.value("content-length").flatMap({ Int($0) }), length > 0 else { return request }
        return read(length).map { RawRequest(head: head, body: $0) }
    }

    /// Reads up to and including the empty line.
    func readHead() -> String? {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let byte = read(1) else { return nil }
            head += byte
        }
        return String(decoding: head.dropLast(4), as: UTF8.self)
    }

    /// Reads exactly `count` bytes; nil when the peer has closed before.
    func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let read = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe recv(descriptor, buffer.baseAddress! + filled, count - filled, 0)
            }
            guard read > 0 else { return nil }
            filled += read
        }
        return bytes
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(descriptor, buffer.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// A whole answer with `body` and its length.
    func answer(_ body: String = "", status: String = "200 OK", headers: [String] = []) {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
        send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Ends the connection with FIN; the descriptor goes with the object.
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Ends the connection with RST.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        // Connecting to "no address" drops a TCP connection at once, and the pending linger makes that a reset.
        var none = sockaddr()
        none.sa_family = sa_family_t(AF_UNSPEC)
        _ = unsafe connect(descriptor, &none, socklen_t(MemoryLayout<sockaddr>.size))
    }
}

/// Plain threads, since scripts block.
enum RawThread {
    static func run(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        unsafe pthread_create(
            &thread, nil,
            { work in
                unsafe Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().body()
                return nil
            }, work)
        pthread_detach(thread)
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
