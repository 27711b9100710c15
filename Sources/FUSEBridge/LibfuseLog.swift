import CFUSE
import Glibc
import Locking
import Logging

/// Where libfuse's own words go. libfuse has one log for the process, so the newest mount's logger gets them.
enum LibfuseLog {
    private struct State: Sendable {
        var log = Logger.silent
        var lastError: String?
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
        var line = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1_024) { buffer in
            _ = unsafe vsnprintf(buffer.baseAddress!, buffer.count, format, arguments)
            return unsafe String(cString: buffer.baseAddress!)
        }
        while line.last == "\n" { line.removeLast() }
        let isError = level.rawValue <= FUSE_LOG_ERR.rawValue
        let log = state.withLock { state in
            if isError { state.lastError = line }
            return state.log
        }
        log(isError ? .warning : .debug, "libfuse: \(line)")
    }
}
