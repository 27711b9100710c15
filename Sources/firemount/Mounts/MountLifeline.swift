import Glibc

/// How `firemount unmount` learns when the process behind a mount is done, and what it could not store. The process
/// listens on a socket in Linux's abstract name space, named for the mount's device number; it answers once, at its
/// end. The kernel completes connections without its help, and breaks them if it dies: no thread, no file to clean up.
struct MountLifeline: ~Copyable, Sendable {
    /// nil: the mount is gone.
    private var listener: Descriptor?
    private var waiters: [Int32] = []

    /// - Parameter device: `major:minor` of the mount.
    init(device: String) throws(SystemError) {
        let socket = try Self.socket()
        let number = socket.number
        let result = unsafe Self.withAddress(of: device) { unsafe bind(number, $0, $1) }
        guard result == 0, listen(number, 16) == 0, fcntl(number, F_SETFL, O_NONBLOCK) == 0 else { throw .last }
        listener = .some(consume socket)
    }

    /// The same, where the process behind an earlier mount of that number has not noticed yet that it is gone.
    static func taken(device: String) throws(SystemError) -> MountLifeline {
        for _ in 0..<50 {
            do { return try MountLifeline(device: device) } catch {
                guard error.code == EADDRINUSE else { throw error }
                usleep(20_000)
            }
        }
        return try MountLifeline(device: device)
    }

    deinit { for waiter in waiters { close(waiter) } }

    /// Tells everyone who waits what the process is still busy with: one line.
    mutating func report(_ text: String) {
        acceptWaiters()
        for waiter in waiters { Self.send("\(Self.progressMark)\(text)\n", to: waiter) }
    }

    /// The mount is gone, and with it whoever could still come: the kernel may give its device number to another mount,
    /// which needs the name. Who waits already is told as before.
    mutating func stopListening() {
        acceptWaiters()
        listener = nil
    }

    private mutating func acceptWaiters() {
        while let socket = listener?.number {
            let number = accept(socket, nil, nil)
            guard number >= 0 else { return }
            waiters.append(number)
        }
    }

    /// A waiter that is gone is none of our business, and one that does not read is not waited for.
    private static func send(_ text: String, to number: Int32) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    fileprivate static let progressMark: Character = "~"

    /// Tells everyone who waits that the process is done.
    /// - Parameter lost: what could not be stored, a line each, and where it is kept.
    consuming func end(lost: [String]) {
        acceptWaiters()
        let report = (lost.map { $0.split(separator: "\n").joined(separator: " ") } + [Self.lastLine])
            .joined(separator: "\n")
        for waiter in waiters { Self.send(report, to: waiter) }
    }

    fileprivate static let lastLine = "."

    fileprivate static func socket() throws(SystemError) -> Descriptor {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let number = Glibc.socket(AF_UNIX, kind, 0)
        guard number >= 0 else { throw .last }
        return Descriptor(owning: number)
    }

    fileprivate static func withAddress(
        of device: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A leading zero byte makes the name abstract (unix(7)).
        let name = [0] + Array("firemount/\(device)".utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}

/// The other end: waits for the process behind a mount.
struct MountWatch: ~Copyable {
    enum End: Equatable {
        /// What could not be stored, a line each.
        case finished(lost: [String])
        /// It ended without a word.
        case died
    }

    let processID: Int32
    private let connection: Descriptor
    /// What has come and was not understood yet.
    private var report: [UInt8] = []

    /// nil: there is no such process, or it is not the one of the user who mounted.
    /// - Parameter device: `major:minor` of the mount.
    init?(device: String, userID: UInt32?) {
        guard let connection = try? MountLifeline.socket() else { return nil }
        let number = connection.number
        guard unsafe MountLifeline.withAddress(of: device, { unsafe connect(number, $0, $1) }) == 0 else { return nil }
        // struct ucred, which needs _GNU_SOURCE: process, user, group.
        var peer: [Int32] = [0, 0, 0]
        var size = socklen_t(MemoryLayout<Int32>.size * peer.count)
        guard unsafe getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else { return nil }
        let user = UInt32(bitPattern: peer[1])
        guard user == 0 || user == userID else { return nil }
        processID = peer[0]
        self.connection = connection
    }

    /// nil: it has not ended in `time`.
    /// - Parameter progress: called with what it is busy with, as it tells.
    mutating func end(within time: Duration?, progress: (String) -> Void = { _ in }) -> End? {
        let deadline = time.map { ContinuousClock.now + $0 }
        while true {
            let left = deadline.map { max(.zero, ContinuousClock.now.duration(to: $0)) }
            guard connection.waitUntilReadable(atMost: left) else { return nil }
            // A broken connection is the end, too.
            guard let piece = try? connection.read(), !piece.isEmpty else { return finalEnd() }
            report += piece
            takeProgress().forEach(progress)
        }
    }

    /// Whole lines that are no part of the final report.
    private mutating func takeProgress() -> [String] {
        var lines: [String] = []
        while report.first == MountLifeline.progressMark.asciiValue,
            let end = report.firstIndex(of: UInt8(ascii: "\n"))
        {
            lines.append(String(decoding: report[1..<end], as: UTF8.self))
            report.removeSubrange(...end)
        }
        return lines
    }

    private func finalEnd() -> End {
        let lines = String(decoding: report, as: UTF8.self).split(separator: "\n").map(String.init)
        return lines.last == MountLifeline.lastLine ? .finished(lost: lines.dropLast()) : .died
    }
}
