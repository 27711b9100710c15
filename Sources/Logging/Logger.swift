/// How much a log line matters. `error` is always written.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    case error, warning, info, debug, trace

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// Where lines go: handed from the command down, no globals. Never give it a token, a signed URL or file contents.
package struct Logger: Sendable {
    package let level: LogLevel
    private let sink: @Sendable (LogLevel, String) -> Void

    /// - Parameter sink: writes one finished line (no newline at its end); called from any thread.
    package init(level: LogLevel, sink: @escaping @Sendable (LogLevel, String) -> Void) {
        self.level = level
        self.sink = sink
    }

    /// A logger that writes nothing.
    package static let silent = Logger(level: .error) { _, _ in }

    /// Writes `message` if `level` is wanted; the message is not built otherwise.
    package func callAsFunction(_ level: LogLevel, _ message: @autoclosure () -> String) {
        guard level <= self.level else { return }
        sink(level, message())
    }
}
