import Foundation
import Glibc

/// A program that was started, with its output in a file.
final class Program: Sendable {
    struct Outcome {
        /// The exit status; 128 and the signal's number if a signal ended it.
        let status: Int32
        /// The most memory it held, in bytes, up to a few milliseconds before its end.
        let peakMemory: Int64
        let output: String
    }

    struct Failure: Error { let description: String }

    let processID: pid_t
    private let outputFile: String

    /// - Parameter input: what its standard input is; closed here afterwards.
    init(
        _ arguments: [String], environment: [String: String], outputFile: String, input: Int32? = nil
    ) throws {
        self.outputFile = outputFile
        let output = unsafe open(outputFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let nothing = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer {
            close(output)
            close(nothing)
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input ?? nothing, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var child: pid_t = 0
        let failure = unsafe posix_spawnp(&child, arguments[0], &actions, nil, words, variables)
        guard failure == 0 else { throw Failure(description: "\(arguments[0]) does not start: error \(failure)") }
        processID = child
    }

    var output: String { (try? String(contentsOfFile: outputFile, encoding: .utf8)) ?? "" }

    /// Returns once the program has ended. Once.
    func wait() async throws -> Outcome {
        // A thread of its own: the pool of tasks has few.
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try self.reap() }) }
        }
    }

    /// Blocks the thread until the program has ended.
    func reap() throws -> Outcome {
        var status: Int32 = 0
        var peakMemory: Int64 = 0
        while true {
            peakMemory = max(peakMemory, memory)
            let ended = unsafe waitpid(processID, &status, WNOHANG)
            guard ended >= 0 else { throw Failure(description: "waitpid: error \(errno)") }
            if ended == processID { break }
            usleep(5_000)
        }
        let signal = status & 0x7F
        return Outcome(
            status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal, peakMemory: peakMemory, output: output)
    }

    /// The most it has held so far, in bytes; 0 once it has ended. Not what wait4(2) tells: that begins with the memory
    /// of whoever started it.
    private var memory: Int64 {
        let status = (try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int64($0) } ?? 0) << 10
    }

    /// A program of this package, built beside the tests.
    static func path(_ name: String) -> String {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        // Exit tests run the same file.
        return (bundle as NSString).deletingLastPathComponent + "/" + name
    }
}
