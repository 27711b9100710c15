import Locking

/// How many bytes may be staged on the local disk (`--staging-limit`). Shared by the staging files of a mount; callable
/// from any thread, also under other locks.
final class StagingBudget: Sendable {
    /// nil: as much as the disk takes.
    let limit: Int64?
    private let used = Lock(Int64(0))

    init(limit: Int64?) { self.limit = limit }

    /// - Throws: `.noSpace`; then nothing is taken.
    func take(_ count: Int64) throws(FileSystemError) {
        try used.withLock { used throws(FileSystemError) in
            if let limit, count > limit - used { throw .noSpace }
            used += count
        }
    }

    func give(_ count: Int64) { used.withLock { $0 -= count } }

    /// More than half is taken: what could wait had better leave.
    var isTight: Bool {
        guard let limit else { return false }
        return used.withLock { $0 } > limit / 2
    }
}
