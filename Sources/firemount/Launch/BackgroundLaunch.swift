import Glibc

/// Mounting in the background. The process starts itself anew, with the same arguments, and waits until the mount
/// answers; it does not fork, because Swift's concurrency does not survive a fork. The new process finds a pipe at a
/// descriptor of its own, named by an environment variable; it says one byte there once the mount answers, and
/// writes to our standard error until then.
enum BackgroundLaunch {
    /// Its value is the number of the descriptor.
    static let variable = "FIREMOUNT_READY_DESCRIPTOR"

    private static let descriptor: Int32 = 3

    /// Returns the exit status to end with: 0 once the mount answers, else that of the process that failed.
    static func start(_ arguments: [String], givingUpAfter time: Duration) throws(CommandFailure) -> Int32 {
        do throws(SystemError) {
            try openStandardDescriptors()
            let pipe = try Pipe()
            var variables = ProcessEnvironment.current.variables
            variables[variable] = String(descriptor)
            let child = try ChildProcess(
                executable, arguments, variables: variables, descriptors: [pipe.writing.number: descriptor])
            let reading = pipe.closeWriting()
            guard reading.waitUntilReadable(atMost: time) else {
                child.end()
                throw SystemError(code: ETIMEDOUT)
            }
            return try reading.read(upTo: 1).isEmpty ? child.exitStatus() : 0
        } catch {
            guard error.code == ETIMEDOUT else { throw CommandFailure("cannot start the mounting process: \(error)") }
            throw CommandFailure(
                "the mount did not answer within \(time.milliseconds / 1_000)s and was given up; "
                    + "--foreground --log-level debug shows why")
        }
    }

    /// By its own path, so that process lists show its name.
    private static var executable: String {
        let link = "/proc/self/exe"
        // No such file: it was replaced since we were started.
        return Files.linkTarget(link).flatMap { try? Files.canonicalPath($0) } ?? link
    }

    /// A caller may have closed them; a pipe must not land on their numbers.
    private static func openStandardDescriptors() throws(SystemError) {
        while true {
            let number = unsafe open("/dev/null", O_RDWR)
            guard number >= 0 else { throw .last }
            guard number <= STDERR_FILENO else {
                close(number)
                return
            }
        }
    }
}

extension ChildProcess {
    /// Asks it to end, and ends it if it does not.
    fileprivate func end() {
        send(SIGTERM)
        for _ in 0..<20 where waitpid(number, nil, WNOHANG) == 0 { usleep(100_000) }
        send(SIGKILL)
        waitpid(number, nil, 0)
    }
}
