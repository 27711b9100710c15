import Glibc
import Logging

/// Where log lines go.
enum LogDestination: Sendable, Equatable {
    case standardError
    case systemLog
    /// Appended to; made for us alone if it is not there.
    case file(String)

    func logger(level: LogLevel, format: LogFormat) throws(CommandFailure) -> Logger {
        switch self {
        case .standardError:
            return Logger(level: level) { level, message in
                printLine(LogLine(level, message).text(in: format), to: STDERR_FILENO)
            }
        case .systemLog:
            let systemLog = SystemLog()
            return Logger(level: level) { level, message in
                let line = LogLine(level, message)
                systemLog.write(format == .json ? line.text(in: .json) : line.withoutTime, level: level)
            }
        case .file(let path):
            let file = try LogFile(path: path)
            return Logger(level: level) { level, message in
                file.write(LogLine(level, message).text(in: format))
            }
        }
    }
}

/// A file that log lines are appended to, each in one write, so that several processes may share it.
private final class LogFile: Sendable {
    private let descriptor: Descriptor

    init(path: String) throws(CommandFailure) {
        do throws(SystemError) {
            descriptor = try Descriptor.open(path, O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        } catch {
            throw CommandFailure("cannot write the log file \(path): \(error); name another with --log-file")
        }
    }

    /// A full disk must not stop the mount: a line that cannot be written is dropped.
    func write(_ line: String) { try? descriptor.write(Array((line + "\n").utf8)) }
}
