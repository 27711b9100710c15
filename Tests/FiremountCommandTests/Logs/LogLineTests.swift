import Glibc
import Logging
import TestSupport
import Testing

@testable import firemount

struct LogLineTests {
    private let time = timespec(tv_sec: 1_764_495_662, tv_nsec: 7_999_999)

    @Test func textHasTimeLevelAndMessage() {
        let line = LogLine(time: time, level: .warning, message: "list a: slow")
        #expect(line.text(in: .text) == "2025-11-30T09:41:02.007Z warning: list a: slow")
        #expect(line.withoutTime == "warning: list a: slow")
    }

    @Test func jsonIsOneObjectALine() {
        let line = LogLine(time: time, level: .error, message: #"say "a\b""#)
        #expect(
            line.text(in: .json)
                == #"{"time":"2025-11-30T09:41:02.007Z","level":"error","message":"say \"a\\b\""}"#)
    }

    @Test func noMessageCanForgeALine() {
        let line = LogLine(time: time, level: .info, message: "a\nerror: b\r\u{1B}[31m")
        #expect(line.withoutTime == #"info: a\nerror: b\u000d\u001b[31m"#)
        #expect(line.text(in: .json).hasSuffix(#""message":"a\nerror: b\u000d\u001b[31m"}"#))
    }

    @Test func aLogFileIsForUsAloneAndAppendedTo() throws {
        let directory = temporaryDirectory()
        let path = "\(directory.path)/log"
        for message in ["one", "two"] {
            let log = try LogDestination.file(path).logger(level: .info, format: .text)
            log(.info, message)
            log(.debug, "unwanted")
        }
        let text = String(decoding: try Files.contents(of: path), as: UTF8.self)
        #expect(text.split(separator: "\n").map { $0.suffix(3) } == ["one", "two"])
        #expect(try Files.status(of: path).st_mode & 0o777 == 0o600)
    }

    @Test func aLogFileThatCannotBeWrittenIsNamed() {
        let error = #expect(throws: CommandFailure.self) {
            try LogDestination.file("/dev/null/log").logger(level: .info, format: .text)
        }
        #expect(error?.message.contains("/dev/null/log") == true)
        #expect(error?.message.contains("--log-file") == true)
    }
}
