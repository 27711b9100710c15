import Glibc
import Logging

/// syslog(3), as `firemount[PID]`. Safe from any thread: the C library locks.
struct SystemLog: Sendable {
    init() {
        // The C library keeps the pointer, so the name must stay for the life of the process.
        unsafe openlog(Self.name.utf8Start, LOG_PID, LOG_DAEMON)
    }

    func write(_ line: String, level: LogLevel) {
        let priority =
            switch level {
            case .error: LOG_ERR
            case .warning: LOG_WARNING
            case .info: LOG_INFO
            case .debug, .trace: LOG_DEBUG
            }
        unsafe line.withCString { text in
            unsafe withVaList([text]) { unsafe vsyslog(priority, "%s", $0) }
        }
    }

    private static let name: StaticString = "firemount"
}
