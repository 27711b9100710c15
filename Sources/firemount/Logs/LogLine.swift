import Glibc
import Logging

/// One line of the log, whatever its message holds: control characters are escaped, so that no name of an object can
/// forge a line.
struct LogLine {
    let time: timespec
    let level: LogLevel
    let message: String

    init(_ level: LogLevel, _ message: String) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        self.init(time: now, level: level, message: message)
    }

    init(time: timespec, level: LogLevel, message: String) {
        self.time = time
        self.level = level
        self.message = message
    }

    func text(in format: LogFormat) -> String {
        switch format {
        case .text: "\(timestamp) \(withoutTime)"
        case .json: #"{"time":"\#(timestamp)","level":"\#(level.name)","message":"\#(escaped(quotes: true))"}"#
        }
    }

    /// For a log that notes the time itself.
    var withoutTime: String { "\(level.name): \(escaped(quotes: false))" }

    /// RFC 3339, UTC, milliseconds.
    private var timestamp: String {
        var seconds = time.tv_sec
        var parts = unsafe tm()
        unsafe gmtime_r(&seconds, &parts)
        let date = unsafe [digits(parts.tm_year + 1_900, 4), digits(parts.tm_mon + 1, 2), digits(parts.tm_mday, 2)]
        let clock = unsafe [digits(parts.tm_hour, 2), digits(parts.tm_min, 2), digits(parts.tm_sec, 2)]
        let milliseconds = digits(Int32(time.tv_nsec / 1_000_000), 3)
        return date.joined(separator: "-") + "T" + clock.joined(separator: ":") + ".\(milliseconds)Z"
    }

    private func digits(_ number: Int32, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// - Parameter quotes: as RFC 8259 wants it between quotation marks.
    private func escaped(quotes: Bool) -> String {
        var text = ""
        for scalar in message.unicodeScalars {
            switch scalar {
            case "\n": text += "\\n"
            case "\"", "\\":
                if quotes { text += "\\" }
                text.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let hexadecimal = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
