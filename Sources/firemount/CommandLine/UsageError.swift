/// The command was typed wrong: told in one line, with the line of help that says how it is right. Exit status 2.
struct UsageError: Error, Equatable {
    let message: String
    /// The usage of the option or the command; nil: not known yet where the error is thrown.
    private(set) var usage: String?

    init(_ message: String, usage: String? = nil) {
        self.message = message
        self.usage = usage
    }

    /// The usage nearest to the mistake stays.
    func withUsage(_ usage: String) -> UsageError {
        self.usage == nil ? UsageError(message, usage: usage) : self
    }
}
