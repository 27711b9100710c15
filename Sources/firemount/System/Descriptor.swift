import Glibc

/// An open file, pipe or socket; closed when its owner lets go of it.
struct Descriptor: ~Copyable, Sendable {
    let number: Int32

    init(owning number: Int32) { self.number = number }

    deinit { close(number) }

    static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemError) -> Descriptor {
        let number = unsafe Glibc.open(path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { throw .last }
        return Descriptor(owning: number)
    }

    /// Up to `count` bytes; none at the end.
    func read(upTo count: Int = 65_536) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var result = unsafe Glibc.read(number, &bytes, count)
        while result < 0, errno == EINTR { result = unsafe Glibc.read(number, &bytes, count) }
        guard result >= 0 else { throw .last }
        bytes.removeLast(count - result)
        return bytes
    }

    func write(_ bytes: [UInt8]) throws(SystemError) {
        try writeAll(bytes, to: number)
    }

    /// Waits until there is something to read, or the other end is closed. False: the time passed first.
    /// - Parameter time: nil waits for ever.
    func waitUntilReadable(atMost time: Duration?) -> Bool {
        let deadline = time.map { ContinuousClock.now + $0 }
        while true {
            var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            let left = deadline.map { max(.zero, ContinuousClock.now.duration(to: $0)) }
            let result = unsafe poll(&request, 1, left.map { Int32(clamping: $0.milliseconds + 1) } ?? -1)
            if result > 0 { return true }
            if result == 0 { return false }
        }
    }
}

/// Two ends; neither survives an exec.
struct Pipe: ~Copyable, Sendable {
    let reading: Descriptor
    let writing: Descriptor

    init() throws(SystemError) {
        var numbers: [Int32] = [-1, -1]
        guard unsafe pipe(&numbers) == 0 else { throw .last }
        for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        reading = Descriptor(owning: numbers[0])
        writing = Descriptor(owning: numbers[1])
    }

    /// Once someone else has the writing end, so that reading ends when they close it.
    consuming func closeWriting() -> Descriptor { reading }
}

/// Writes to a descriptor that someone else owns, such as standard error.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    var written = 0
    while written < bytes.count {
        let result = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.write(descriptor, buffer.baseAddress! + written, buffer.count - written)
        }
        if result < 0, errno != EINTR { throw .last }
        written += max(0, result)
    }
}

/// A line for the person at the terminal. A closed terminal is no reason to fail.
func printLine(_ line: String, to descriptor: Int32 = STDOUT_FILENO) {
    try? writeAll(Array((line + "\n").utf8), to: descriptor)
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
