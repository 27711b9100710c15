import CFUSE
import Glibc

/// The thread that waits for an answer.
struct Caller: Sendable {
    /// As this process sees it; 0 if it lives outside our process namespace.
    let threadID: pid_t

    init(threadID: pid_t) { self.threadID = threadID }

    init(of request: OpaquePointer) {
        unsafe self.init(threadID: fuse_req_ctx(request).pointee.pid)
    }

    /// Whether a signal that ends the caller is pending.
    ///
    /// A caller that cannot be seen counts as dying: better a rare EINTR than a process that `kill -9` does not end.
    var isDying: Bool {
        guard threadID > 0, let status = readStatus() else { return true }
        return SignalState(status: status).isFatal
    }

    /// Whether a signal has ended the caller's process, and this thread closes what it had open. It waits for the
    /// answer as if nothing had happened, and no further signal reaches it.
    var wasKilled: Bool {
        guard threadID > 0, let text = read("/proc/\(threadID)/stat") else { return false }
        return ThreadState(text)?.isEndedBySignal ?? false
    }

    private func readStatus() -> String? { read("/proc/\(threadID)/status") }

    /// Whether the caller's process has a file of this `st_ino` open for writing. Where that cannot be seen, it has
    /// not.
    ///
    /// It reads `fdinfo` (`ino` is there since Linux 5.14), which asks no file system: a `stat` of the descriptor would
    /// come to this very mount.
    func holdsForWriting(fileNumber: UInt64) -> Bool {
        let folder = "/proc/\(threadID)/fdinfo"
        guard threadID > 0, let stream = unsafe opendir(folder) else { return false }
        defer { unsafe closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard name != ".", name != "..", let text = read("\(folder)/\(name)") else { continue }
            let info = DescriptorInfo(text)
            if info.fileNumber == fileNumber, info.writes { return true }
        }
        return false
    }

    private func read(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // These files are below 2 KB; the kernel gives them in one read.
        return unsafe withUnsafeTemporaryAllocation(byteCount: 8_192, alignment: 1) { buffer in
            let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return nil }
            return unsafe String(decoding: buffer[..<count], as: UTF8.self)
        }
    }
}

/// What `/proc/PID/fdinfo/FD` says of an open file (`proc(5)`).
struct DescriptorInfo {
    private(set) var fileNumber: UInt64?
    private(set) var writes = false

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 1)
            guard fields.count == 2 else { continue }
            let value = fields[1].drop { $0 == "\t" || $0 == " " }
            switch fields[0] {
            case "ino": fileNumber = UInt64(value)
            case "flags": writes = (Int32(value, radix: 8) ?? 0) & O_ACCMODE != O_RDONLY
            default: continue
            }
        }
    }
}

/// What `/proc/PID/stat` says of the end of a thread (`proc(5)`).
struct ThreadState {
    private let flags: UInt64
    /// As `wait(2)` tells it; set before the thread closes its files (kernel/exit.c: do_exit).
    private let exitCode: Int64

    /// `PF_EXITING` (include/linux/sched.h).
    private static let exiting: UInt64 = 0x4

    init?(_ text: String) {
        // The second field is a name in parentheses, which may hold anything.
        guard let nameEnd = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: nameEnd)...].split(whereSeparator: \.isWhitespace)
        // `state`, the third field, is the first here; `flags` is the 9th, `exit_code` the 52nd.
        guard fields.count >= 50, let flags = UInt64(fields[6]), let exitCode = Int64(fields[49]) else { return nil }
        self.flags = flags
        self.exitCode = exitCode
    }

    var isEndedBySignal: Bool { flags & Self.exiting != 0 && exitCode & 0x7F != 0 }
}

/// The signal masks of a thread (`proc(5)`: status). Signal n is bit n - 1.
struct SignalState {
    private var pending: UInt64 = 0
    /// Blocked, ignored or handled: does not end the thread now.
    private var harmless: UInt64 = 0

    init(status: String) {
        for line in status.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 1)
            guard fields.count == 2, let mask = UInt64(fields[1].drop { $0 == "\t" || $0 == " " }, radix: 16) else {
                continue
            }
            switch fields[0] {
            case "SigPnd", "ShdPnd": pending |= mask
            case "SigBlk", "SigIgn", "SigCgt": harmless |= mask
            default: continue
            }
        }
    }

    /// A signal that ends a process is turned into SIGKILL for each of its threads when it is sent, except those that
    /// dump core, which stay what they are until the thread sees them (kernel/signal.c: complete_signal).
    var isFatal: Bool {
        pending & SignalState.mask(SIGKILL) != 0 || pending & ~harmless & SignalState.dumpingCore != 0
    }

    private static let dumpingCore = [
        SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS,
    ].reduce(0) { $0 | mask($1) }

    private static func mask(_ signal: Int32) -> UInt64 { 1 << UInt64(signal - 1) }
}
