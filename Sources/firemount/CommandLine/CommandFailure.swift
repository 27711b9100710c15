/// The command was typed right and could not be done: told in one line that names the thing and the way out.
struct CommandFailure: Error, Equatable {
    let message: String
    let status: Int32

    init(_ message: String, status: Int32 = 1) {
        self.message = message
        self.status = status
    }
}
