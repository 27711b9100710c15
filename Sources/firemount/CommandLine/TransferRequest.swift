import BucketFileSystem

/// A `pause`, `resume` or `cancel` as typed.
struct TransferRequest: Sendable, Equatable {
    let command: TransferRegistry.Command
    let mountPoint: TypedPath
    /// nil: all.
    let id: UInt64?

    init(_ command: TransferRegistry.Command, parsing words: [String]) throws(UsageError) {
        var none: Void = ()
        let operands = try ArgumentParser<Void>(options: []).parse(words, into: &none)
        guard let first = operands.first, let mountPoint = TypedPath(spelling: first) else {
            throw UsageError("no mount point is named")
        }
        guard operands.count <= 2 else { throw UsageError("'\(operands[2])' is one word too many") }
        let id = operands.count == 2 ? UInt64(operands[1]) : nil
        guard operands.count == 1 || id != nil else {
            throw UsageError("'\(operands[1])' is no upload's number; firemount status \(first) shows them")
        }
        self.command = command
        self.mountPoint = mountPoint
        self.id = id
    }
}
