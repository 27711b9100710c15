import Glibc

/// A process that we started and wait for.
struct ChildProcess {
    let number: pid_t

    /// Starts `program` (looked for in `PATH` if it has no slash) with `/dev/null` as its input.
    /// - Parameters:
    ///   - arguments: its own name first.
    ///   - variables: its whole environment.
    ///   - descriptors: our descriptor → the number it has there; others close on exec, except 1 and 2.
    init(
        _ program: String, _ arguments: [String], variables: [String: String], descriptors: [Int32: Int32]
    ) throws(SystemError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        for (ours, theirs) in descriptors { unsafe posix_spawn_file_actions_adddup2(&actions, ours, theirs) }

        var attributes = Self.attributes()
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var number: pid_t = 0
        let status = unsafe Self.withCStrings(arguments) { arguments in
            unsafe Self.withCStrings(variables.map { "\($0)=\($1)" }) { variables in
                unsafe posix_spawnp(&number, program, &actions, &attributes, arguments, variables)
            }
        }
        guard status == 0 else { throw SystemError(code: status) }
        self.number = number
    }

    /// Runs a helper to its end; returns its exit status and what it wrote to standard error.
    static func run(_ arguments: [String]) throws(SystemError) -> (status: Int32, errors: String) {
        let pipe = try Pipe()
        let child = try ChildProcess(
            arguments[0], arguments, variables: ProcessEnvironment.current.variables,
            descriptors: [pipe.writing.number: STDERR_FILENO])
        let reading = pipe.closeWriting()
        var errors: [UInt8] = []
        while let piece = try? reading.read(), !piece.isEmpty { errors += piece }
        let text = String(decoding: errors, as: UTF8.self).split(separator: "\n").joined(separator: "; ")
        return (child.exitStatus(), text)
    }

    /// Its exit status; 128 and the signal's number if a signal ended it.
    func exitStatus() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(number, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    func send(_ signal: Int32) { kill(number, signal) }

    /// Interrupts that our parent ignores are ours to ignore, not the child's.
    private static func attributes() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGPIPE] { unsafe sigaddset(&signals, signal) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        return attributes
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let copies: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
    }
}
