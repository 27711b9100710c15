import Glibc

/// An answer as it came over the wire.
struct Answer {
    var status = 0
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// False when the connection ended before the body was all there.
    var isComplete = true

    var text: String { String(decoding: body, as: UTF8.self) }

    subscript(header: String) -> String? {
        headers.first { $0.name.lowercased() == header.lowercased() }?.value
    }
}

/// HTTP/1.1 over one socket, with nothing between the test and the bytes. Not for several threads at once.
@safe
final class WireClient {
    private let port: UInt16
    private var socket: Int32 = -1
    private var unread: [UInt8] = []
    /// How many connections it has opened: 1 as long as the server keeps it alive.
    private(set) var connections = 0

    init(port: UInt16) { self.port = port }

    deinit { disconnect() }

    func disconnect() {
        if socket >= 0 { close(socket) }
        socket = -1
        unread = []
    }

    /// Sends a request and reads its answer; connects anew if the last answer ended the connection.
    func send(
        _ method: String, _ target: String, _ headers: [(String, String)] = [], body: [UInt8]? = nil
    ) -> Answer {
        if socket < 0 { connect() }
        guard socket >= 0 else { return readAnswer(toHead: false) }
        sendHead(method, target, headers + (body.map { [("Content-Length", String($0.count))] } ?? []))
        if let body { sendBytes(body) }
        return readAnswer(toHead: method == "HEAD")
    }

    func connect() {
        disconnect()
        connections += 1
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { return disconnect() }
        var noDelay: Int32 = 1
        unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, 4)
    }

    func sendHead(_ method: String, _ target: String, _ headers: [(String, String)]) {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        sendBytes(Array((head + "\r\n").utf8))
    }

    /// Stops at the first failure: the server may close a connection while a body is on its way.
    func sendBytes(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(socket, buffer.baseAddress! + sent, buffer.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Waits until the answer begins to come.
    func waitForAnswer() {
        if unread.isEmpty { _ = fill() }
    }

    /// Sends a head that asks for leave to send the body, and waits for it: the server has then taken the request up.
    func sendHeadAndWait(_ method: String, _ target: String, _ headers: [(String, String)]) {
        sendHead(method, target, headers + [("Expect", "100-continue")])
        waitForAnswer()
    }

    func readAnswer(toHead: Bool = false) -> Answer {
        var answer = Answer()
        guard let head = readHead() else {
            disconnect()
            answer.isComplete = false
            return answer
        }
        let lines = head.split(separator: "\r\n")
        answer.status = Int(lines[0].split(separator: " ")[1]) ?? 0
        answer.headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        if !toHead, answer.status != 204, answer.status != 304 { readBody(of: &answer) }
        if answer["Connection"]?.lowercased() == "close" || !answer.isComplete { disconnect() }
        return answer
    }

    private func readHead() -> String? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let index = unread.indices.first(where: { unread[$0...].starts(with: end) }) {
                let head = String(decoding: unread[..<index], as: UTF8.self)
                unread.removeFirst(index + 4)
                if head.hasPrefix("HTTP/1.1 100") { continue }
                return head
            }
            guard fill() else { return nil }
        }
    }

    private func readBody(of answer: inout Answer) {
        if answer["Transfer-Encoding"] == "chunked" { return readChunks(of: &answer) }
        let length = Int(answer["Content-Length"] ?? "") ?? 0
        while unread.count < length {
            guard fill() else {
                answer.isComplete = false
                break
            }
        }
        answer.body = Array(unread.prefix(length))
        unread.removeFirst(answer.body.count)
    }

    private func readChunks(of answer: inout Answer) {
        while true {
            guard let line = readLine(), let size = Int(line, radix: 16) else {
                answer.isComplete = false
                return
            }
            while unread.count < size + 2, fill() {}
            guard unread.count >= size + 2 else {
                answer.isComplete = false
                return
            }
            answer.body += unread.prefix(size)
            unread.removeFirst(size + 2)
            if size == 0 { return }
        }
    }

    private func readLine() -> String? {
        while true {
            if let end = unread.firstIndex(of: 0x0A) {
                let line = String(decoding: unread[..<end].filter { $0 != 0x0D }, as: UTF8.self)
                unread.removeFirst(end + 1)
                return line
            }
            guard fill() else { return nil }
        }
    }

    private func fill() -> Bool {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(socket, &piece, piece.count, 0)
        guard count > 0 else { return false }
        unread += piece.prefix(count)
        return true
    }
}
