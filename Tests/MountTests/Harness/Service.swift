import Foundation

/// A program that runs beside a test, ended through its own process id: by `stop`, or when the test process dies, since
/// a guarding shell waits for either its end or the end of the pipe that this process holds.
final class Service: Sendable {
    private let guardian: ChildProcess
    private let lifeline: Descriptor
    private let processIDFile: String
    let logFile: String

    private static let guarding = """
        exec 3<&0 </dev/null
        log=$1 pidfile=$2 afterwards=$3; shift 3
        "$@" >>"$log" 2>&1 3<&- & child=$!
        echo $child >"$pidfile"
        { read -r -u 3 || true; kill -TERM $child; sleep 60; kill -KILL $child; } 2>/dev/null & watcher=$!
        wait $child; status=$?
        pkill -P $watcher; kill $watcher 2>/dev/null
        eval "$afterwards"
        exit $status
        """

    /// - Parameter afterwards: shell words to run once the program has ended, however it ended.
    init(_ command: [String], folder: String, name: String, afterwards: String = "true") throws {
        logFile = "\(folder)/\(name).log"
        processIDFile = "\(folder)/\(name).pid"
        let (here, there) = try Descriptor.pair()
        lifeline = here
        guardian = try ChildProcess(
            ["bash", "-c", Self.guarding, "guardian", logFile, processIDFile, afterwards] + command,
            environment: ProcessInfo.processInfo.environment, input: there,
            output: Descriptor("/dev/null", O_WRONLY))
    }

    var isRunning: Bool { guardian.isRunning }

    var processID: Int32? {
        let text = try? String(contentsOfFile: processIDFile, encoding: .utf8)
        return text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    var log: String {
        let bytes = (try? Data(contentsOf: URL(fileURLWithPath: logFile))) ?? Data()
        return String(decoding: bytes.suffix(20_000), as: UTF8.self)
    }

    /// The most memory the program has held so far, in bytes.
    var peakResidentBytes: Int? {
        guard let processID else { return nil }
        let status = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
    }

    /// Asks the program to end, waits, and answers its exit status. Again: answers the same.
    @discardableResult
    func stop() -> Int32 {
        lifeline.shutDown()
        return guardian.wait()
    }

    /// Waits until `isReady` or the program's end, at most `limit`.
    func wait(upTo limit: Duration = .seconds(30), until isReady: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + limit
        while try !isReady() {
            guard isRunning else { throw ToolFailure(description: "ended before it was ready:\n\(log)") }
            guard ContinuousClock.now < deadline else {
                throw ToolFailure(description: "not ready in \(limit):\n\(log)")
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    deinit { stop() }
}
