// How reads are answered
//
// An object's bytes are kept in memory as extents: runs of bytes in blocks of at most 1 MiB (`ContentState`). A read
// whose bytes are there is answered at once, on the caller's thread, from as many pieces as it takes. Otherwise
// requests are started for what is missing, and the read is completed by the thread that receives the last byte it
// wants, while its requests may go on. Who reads what is already under way joins the request; no byte is asked for
// twice at once. Every request is pinned to one object generation.
//
// How much is asked for depends on the reader (`ReadAheadWindow`, one or a few per open handle):
//
// - A read somewhere fetches the 64 KiB around it, in one small request.
// - A read at the beginning fetches the first MiB: most files end there, and most programs look there first.
// - Reads in a row, or nearly so, open a window ahead of the reader. It starts at 1 MiB and grows to at most 16 times
//   what was read in a row, so that it doubles with use and a reader that stops early has cost little. A window is
//   fetched by about 24 parallel requests of 1 to 5 MiB, because one connection is slow and a bucket is not.
// - A reader that leaves starts small again; what is under way for it is cancelled when its handle closes.
//
// Ranges come without a checksum, so that of each block is noted as it arrives (`PieceChecksums`). Whatever the order,
// the block that makes the object complete is handed out only if all of them together have the object's checksum. If
// not, the content is damaged for good: it answers nothing any more, and the file's next open makes another.
//
// Everything lives inside one `MemoryBudget`. When it is full, extents that were unused for longest go, read-ahead goes
// without, and demand asks for less, then waits its turn. All open windows together get half of it.
//
// Locks: an `ObjectContent`'s or a `ReadCursor`'s, then `MemoryBudget`'s or `WindowShares`'; a thread holds one of each
// at most. No request is started, no completion called and no byte copied under any of them.

import Logging
import ObjectStore

/// What all reads of a mount share.
final class ReadEngine: Sendable {
    let store: any ObjectStore
    let budget: MemoryBudget
    let windows: WindowShares
    let log: Logger

    /// - Parameter memoryLimit: in bytes, for everything read: extents, requests under way, replies. Raised to
    ///   `MemoryBudget.smallestLimit`.
    init(store: any ObjectStore, memoryLimit: Int64, log: Logger) {
        self.store = store
        budget = MemoryBudget(limit: memoryLimit)
        windows = WindowShares(memoryLimit: budget.limit)
        self.log = log
    }

    /// A read of more is cut; four times what the kernel asks for at most.
    var longestRead: Int { Int(budget.limit / 4) }
}
