import CFUSE
import Glibc
import Locking
import Logging

/// Where libfuse's own words go. libfuse has one log for the process, so the newest mount's logger gets them.
enum LibfuseLog {
    private struct State: Sendable {
        var log = Logger.silent
        /// The beginning of a line: libfuse writes some in pieces.
        var beginning = ""
        var lastError: String?

        /// The line that `text` completes, without libfuse's own prefix.
        mutating func add(_ text: String) -> String? {
            beginning += text
            guard beginning.last == "\n" else { return nil }
            defer { beginning = "" }
            let line = beginning.dropLast()
            return String(line.hasPrefix("fuse: ") ? line.dropFirst(6) : line)
        }
    }

    private static let state = Lock(State())

    static func install(_ log: Logger) {
        state.withLock { $0 = State(log: log) }
        unsafe fuse_set_log_func { level, format, arguments in
            guard let format = unsafe format, let arguments = unsafe arguments else { return }
            unsafe LibfuseLog.write(level, format, arguments)
        }
    }

    /// The last thing that went wrong since `install`.
    static var lastError: String? { state.withLock { $0.lastError } }

    private static func write(_ level: fuse_log_level, _ format: UnsafePointer<CChar>, _ arguments: CVaListPointer) {
        let text = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1_024) { buffer in
            _ = unsafe vsnprintf(buffer.baseAddress!, buffer.count, format, arguments)
            return unsafe String(cString: buffer.baseAddress!)
        }
        let isError = level.rawValue <= FUSE_LOG_ERR.rawValue
        let (log, line) = state.withLock { state in
            let line = state.add(text)
            if isError, let line { state.lastError = line }
            return (state.log, line)
        }
        if let line { log(isError ? .warning : .debug, "libfuse: \(line)") }
    }
}
