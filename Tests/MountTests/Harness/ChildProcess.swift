import Glibc
import Synchronization

/// A process of ours, reaped once. Not Foundation's `Process`: that one lets descriptors of one child, by which ends
/// are noticed, leak into the others.
final class ChildProcess: Sendable {
    let processID: pid_t
    private let status: Mutex<Int32?> = Mutex(nil)

    /// Standard error goes where standard output goes. Every other descriptor must be close-on-exec.
    init(_ arguments: [String], environment: [String: String], input: Descriptor, output: Descriptor) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (from, to) in [(input, STDIN_FILENO), (output, STDOUT_FILENO), (output, STDERR_FILENO)] {
            unsafe posix_spawn_file_actions_adddup2(&actions, from.number, to)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // Whatever the thread that spawns blocks or ignores: the child starts with defaults.
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var child: pid_t = 0
        let failure = unsafe posix_spawnp(&child, arguments[0], &actions, &attributes, words, variables)
        guard failure == 0 else { throw ToolFailure(description: "\(arguments[0]) does not start: error \(failure)") }
        processID = child
    }

    var isRunning: Bool { reap(WNOHANG) == nil }

    /// Blocks until the end; answers the exit status, or 128 and the signal's number.
    @discardableResult
    func wait() -> Int32 {
        while true {
            if let status = reap(0) { return status }
        }
    }

    private func reap(_ options: Int32) -> Int32? {
        status.withLock { known in
            if let known { return known }
            var raw: Int32 = 0
            guard unsafe waitpid(processID, &raw, options) == processID else { return nil }
            let signal = raw & 0x7F
            known = signal == 0 ? (raw >> 8) & 0xFF : 128 + signal
            return known
        }
    }
}

/// An open file, closed with its owner. Close-on-exec.
final class Descriptor: Sendable {
    let number: Int32

    init(_ path: String, _ flags: Int32) throws {
        number = unsafe open(path, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw ToolFailure(description: "\(path) does not open") }
    }

    private init(adopting number: Int32) { self.number = number }

    /// Two ends of one connection: closing one is the other's end of file.
    static func pair() throws -> (Descriptor, Descriptor) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw ToolFailure(description: "socketpair") }
        return (Descriptor(adopting: ends[0]), Descriptor(adopting: ends[1]))
    }

    /// Ends the other side's reading, while this value lives on.
    func shutDown() { shutdown(number, Int32(SHUT_RDWR)) }

    deinit { close(number) }
}
