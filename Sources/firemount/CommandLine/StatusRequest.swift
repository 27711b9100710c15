/// A `status` as typed.
struct StatusRequest: Sendable, Equatable {
    /// nil: all mounts of this user.
    var mountPoint: TypedPath?
    var printsJSON = false
    var watches = false
    var drawsBars = false

    init(parsing words: [String]) throws(UsageError) {
        let operands = try ArgumentParser(options: Self.options).parse(words, into: &self)
        guard operands.count < 2 else { throw UsageError("'\(operands[1])' is one word too many") }
        mountPoint = operands.first.flatMap(TypedPath.init(spelling:))
    }

    static let options: [Option<StatusRequest>] = [
        Option("json", turnsOn: \.printsJSON, "print JSON, for programs"),
        Option("bars", turnsOn: \.drawsBars, "draw bars, also where the output is no terminal"),
        Option("watch", letter: "w", turnsOn: \.watches, "again each second, until Ctrl-C"),
    ]
}
