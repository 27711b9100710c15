import Logging

/// A `demo` as typed.
struct DemoRequest: Sendable, Equatable {
    /// nil: a new directory under the system's directory for temporary files.
    var mountPoint: TypedPath?
    var logLevel: LogLevel?

    init(parsing words: [String]) throws(UsageError) {
        let operands = try ArgumentParser(options: Self.options).parse(words, into: &self)
        guard operands.count < 2 else { throw UsageError("'\(operands[1])' is one word too many") }
        mountPoint = operands.first.flatMap(TypedPath.init(spelling:))
    }

    static let options: [Option<DemoRequest>] = [
        Option("log-level", sets: \.logLevel, "error, warning, info, debug or trace (warning)")
    ]
}
