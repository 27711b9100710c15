import Locking
import Logging

/// Lines that were logged, for tests to look at and to wait for.
final class CollectedLog: Sendable {
    private let collected = Lock<[(level: LogLevel, text: String)]>([])

    var logger: Logger {
        Logger(level: .trace) { level, text in self.collected.withLock { $0.append((level, text)) } }
    }

    func lines(_ level: LogLevel) -> [String] {
        collected.withLock { lines in lines.filter { $0.level == level }.map(\.text) }
    }

    /// Returns once a line has `text` in it.
    func wait(for text: String) async throws {
        while !collected.withLock({ lines in lines.contains { $0.text.contains(text) } }) {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
