import Locking

/// A piece of memory from the budget; goes back to it with the last reference.
///
/// Only the transfer that a block was taken for writes to it, and only past what it has announced under its object's
/// lock; announced bytes are never changed. That makes the memory safe to share.
@safe
final class Block: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer
    private let place: SlabPool.Place
    private let budget: MemoryBudget

    init(_ slot: SlabPool.Slot, of budget: MemoryBudget) {
        unsafe bytes = slot.bytes
        place = unsafe slot.place
        self.budget = budget
    }

    deinit { budget.free(place) }
}

/// Keeps the blocks of one read in place until its reply is out, and tells the budget then.
final class ReadPin: Sendable {
    private let blocks: Lock<[Block]>
    private let budget: MemoryBudget

    init(_ blocks: [Block], of budget: MemoryBudget) {
        self.blocks = Lock(blocks)
        self.budget = budget
    }

    deinit {
        // Before the budget hears of it, so that whoever it wakes finds the blocks unused.
        blocks.withLock { $0 = [] }
        budget.wasUnpinned()
    }
}
