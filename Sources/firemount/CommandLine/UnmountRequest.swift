/// An `unmount` as typed.
struct UnmountRequest: Sendable, Equatable {
    var mountPoint: TypedPath

    init(parsing words: [String]) throws(UsageError) {
        var none: Void = ()
        let operands = try ArgumentParser<Void>(options: []).parse(words, into: &none)
        guard let first = operands.first, let mountPoint = TypedPath(spelling: first) else {
            throw UsageError("no mount point is named")
        }
        guard operands.count == 1 else { throw UsageError("'\(operands[1])' is one word too many") }
        self.mountPoint = mountPoint
    }
}
