import Locking
import Logging

/// What the file system under test says.
final class Log: Sendable {
    private let level: LogLevel
    private let entries = Lock<[(level: LogLevel, text: String)]>([])

    init(level: LogLevel) { self.level = level }

    var logger: Logger {
        Logger(level: level) { [self] level, text in entries.withLock { $0.append((level, text)) } }
    }

    var lines: [String] { entries.withLock { $0.map(\.text) } }
    var errors: [String] { entries.withLock { $0.filter { $0.level == .error }.map(\.text) } }
}
