/// A `refresh` as typed.
struct RefreshRequest: Sendable, Equatable {
    var path: TypedPath

    init(parsing words: [String]) throws(UsageError) {
        var none: Void = ()
        let operands = try ArgumentParser<Void>(options: []).parse(words, into: &none)
        guard let first = operands.first, let path = TypedPath(spelling: first) else {
            throw UsageError("no file or folder is named")
        }
        guard operands.count == 1 else { throw UsageError("'\(operands[1])' is one word too many") }
        self.path = path
    }
}
