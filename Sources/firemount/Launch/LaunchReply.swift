import Glibc

/// The background process's end of its launch: where it says that the mount answers.
final class LaunchReply: Sendable {
    private let pipe: Descriptor

    /// Takes the pipe that `BackgroundLaunch` left, and leaves the terminal and everything else of the parent behind.
    /// nil: this process was not launched so.
    init?(from environment: ProcessEnvironment) {
        guard let number = environment[BackgroundLaunch.variable].flatMap({ Int32($0) }), number > STDERR_FILENO else {
            return nil
        }
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return nil }
        pipe = Descriptor(owning: number)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        unsafe unsetenv(BackgroundLaunch.variable)
        setsid()
        leaveFileSystems(closingFrom: number + 1)
    }

    /// Lets go of the parent's output and tells it to go. False: it is no longer there.
    func ready() -> Bool {
        guard let null = try? Descriptor.open("/dev/null", O_RDWR) else { return false }
        for number in [STDOUT_FILENO, STDERR_FILENO] { dup2(null.number, number) }
        do { try pipe.write([UInt8(ascii: "r")]) } catch { return false }
        return true
    }
}
