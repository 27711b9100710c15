import Dispatch
import Glibc

/// A TCP socket that listens.
struct ListeningSocket {
    let descriptor: Int32
    let port: UInt16

    private static let backlog: Int32 = 1024

    /// - Parameter port: 0 for any free one.
    init(host: String, port: UInt16) throws(ServerError) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, String(port), &hints, &found)
        guard status == 0, let address = unsafe found else {
            throw ServerError("\(host) is no address of this machine; use 127.0.0.1")
        }
        defer { unsafe freeaddrinfo(address) }
        descriptor = unsafe socket(
            address.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0,
            listen(descriptor, Self.backlog) == 0
        else {
            let error = Self.refusal(errno, host: host, port: port)
            close(descriptor)
            throw error
        }
        self.port = Self.port(of: descriptor)
    }

    /// Nobody can connect for a while; who is connected already stays so. The socket, and with it the port, is the same
    /// afterwards.
    func refuse(for duration: Duration) {
        // Linux: a listening socket that is shut down refuses, and listens again when bound and told to once more.
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
        }
        guard isKnown == 0, shutdown(descriptor, Int32(SHUT_RD)) == 0 else { return }
        let (seconds, attoseconds) = duration.components
        let pause = DispatchTimeInterval.milliseconds(Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
        reopen(at: address, length, after: pause)
    }

    /// A client may have been given our port for the other end of its connection meanwhile; then a little later.
    private func reopen(at address: sockaddr_storage, _ length: socklen_t, after pause: DispatchTimeInterval) {
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) {
            let status = unsafe withUnsafePointer(to: address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
            }
            // EINVAL: it kept its port, as it does once it was bound to one by number.
            guard status == 0 || errno == EINVAL else { return reopen(at: address, length, after: .milliseconds(20)) }
            listen(descriptor, Self.backlog)
        }
    }

    private static func refusal(_ code: Int32, host: String, port: UInt16) -> ServerError {
        switch code {
        case EADDRINUSE:
            ServerError(
                "port \(port) of \(host) is in use by another program; choose another with --port, or 0 for any")
        case EACCES:
            ServerError("port \(port) may not be used without privileges; choose one above 1023 with --port")
        default:
            ServerError("cannot listen on \(host) port \(port): \(unsafe String(cString: strerror(code)))")
        }
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe getsockname(descriptor, $0, &length)
            }
            // The port is at the same place in IPv4's and IPv6's addresses.
            return unsafe storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                unsafe UInt16(bigEndian: $0.pointee.sin_port)
            }
        }
    }
}
