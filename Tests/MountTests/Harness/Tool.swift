import Foundation

/// Runs a program to its end and answers what it said. Blocks the calling thread: the tests of this module are meant to
/// run one per core, and the tools they run are what takes the time.
struct Tool {
    struct Outcome {
        let status: Int32
        /// Standard output and standard error, as they came.
        let output: String
    }

    var environment: [String: String] = [:]
    /// After this the program is killed, and its status is 124 or 137.
    var limit: Duration = .seconds(240)

    func run(_ arguments: [String], input: Data? = nil) throws -> Outcome {
        let outputPath = TemporaryFolder.uniquePath("output")
        let inputPath = input.map { _ in TemporaryFolder.uniquePath("input") }
        defer { for path in [outputPath, inputPath].compactMap(\.self) { unsafe unlink(path) } }
        if let input, let inputPath { try input.write(to: URL(fileURLWithPath: inputPath)) }

        let process = try ChildProcess(
            ["timeout", "-k", "5", "\(limit.components.seconds)"] + arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            input: Descriptor(inputPath ?? "/dev/null", O_RDONLY),
            output: Descriptor(outputPath, O_WRONLY | O_CREAT | O_APPEND))
        let status = process.wait()
        let said = try Data(contentsOf: URL(fileURLWithPath: outputPath))
        return Outcome(status: status, output: String(decoding: said, as: UTF8.self))
    }
}

/// A tool did not do what the test asked for.
struct ToolFailure: Error, CustomStringConvertible {
    let description: String
}
