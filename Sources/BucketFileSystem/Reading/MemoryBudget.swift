import Locking

/// All memory for bytes read, of all objects of a mount: a hard bound. When it is full the extents unused for longest
/// go; if that is not enough, read-ahead goes without, and demand waits its turn, first come first served.
///
/// Who waits holds no memory, so what is in use always comes back and the first in the queue always gets its turn.
///
/// Callable from any thread, also under the lock of an `ObjectContent`: its own lock is the last in the order, and it
/// never calls anyone while holding it.
final class MemoryBudget: Sendable {
    enum Purpose: Sendable {
        /// Someone waits for these bytes.
        case demand
        /// The first in the queue tries again.
        case queuedDemand
        case readAhead
    }

    /// Below this the sizes that one read can need might not find room together.
    static let smallestLimit: Int64 = 8 << 20
    /// So many victims at most are looked at for read-ahead, which is not worth a walk through everything.
    private static let mostVictimsForReadAhead = 64

    typealias Ticket = LeastRecentlyUsed<Resident>.Ticket

    /// An extent that could be given up.
    struct Resident: Sendable {
        var owner: WeakExtentOwner
        var offset: Int64
        /// Fetched ahead and not read yet. Such an extent is passed over once, so that a slow reader keeps its window
        /// beside a quick one.
        var isUnread: Bool
    }

    private struct State {
        var pool: SlabPool
        var residents = LeastRecentlyUsed<Resident>()
        /// Each tries again, answers whether it succeeded.
        var queue: [@Sendable () -> Bool] = []
        var isServing = false
        /// Something was freed while the queue was being served.
        var isServedAgain = false

        /// True if the caller shall have the queue served.
        mutating func somethingWasFreed() -> Bool {
            guard !queue.isEmpty else { return false }
            guard !isServing else {
                isServedAgain = true
                return false
            }
            isServing = true
            return true
        }
    }

    private let state: Lock<State>
    let limit: Int64

    /// - Parameter limit: in bytes; raised to `smallestLimit`.
    init(limit: Int64) {
        self.limit = max(limit, Self.smallestLimit)
        state = Lock(State(pool: SlabPool(limit: self.limit)))
    }

    deinit { state.withLock { $0.pool.close() } }

    /// Bytes that the system gave us: blocks in use and a few empty ones.
    var mappedBytes: Int64 { state.withLock { $0.pool.mappedBytes } }

    var residentCount: Int { state.withLock { $0.residents.count } }

    // MARK: Blocks

    /// Blocks for `count` bytes in a row: whole slabs, and one that holds the rest. All or none.
    /// Call it without a lock of `ObjectContent`: extents of any object may be given up for it.
    func allocate(_ count: Int64, for purpose: Purpose) -> [Block]? { allocate([count], for: purpose)?[0] }

    /// Blocks for several runs of bytes. All or none.
    func allocate(_ counts: [Int64], for purpose: Purpose) -> [[Block]]? {
        let everyone = residentCount
        var victims = purpose == .readAhead ? min(everyone, Self.mostVictimsForReadAhead) : everyone
        while mayTake(purpose) {
            if let blocks = take(counts) { return blocks }
            guard victims > 0, let victim = oldest() else { return nil }
            victim.resident.owner.object?.giveUp(victim.resident, victim.ticket)
            victims -= 1
        }
        return nil
    }

    /// Nobody overtakes the queue.
    private func mayTake(_ purpose: Purpose) -> Bool {
        purpose == .queuedDemand || state.withLock { $0.queue.isEmpty }
    }

    private func take(_ counts: [Int64]) -> [[Block]]? {
        let (slots, surplus) = unsafe state.withLock { unsafe $0.pool.take(counts) }
        unsafe surplus.forEach { unsafe unmap($0) }
        return unsafe slots.map { unsafe $0.map { unsafe $0.map { unsafe Block($0, of: self) } } }
    }

    private func unmap(_ base: UnsafeMutableRawPointer) {
        unsafe SlabPool.unmap(base)
        state.withLock { $0.pool.wasUnmapped() }
    }

    /// A block's end.
    func free(_ place: SlabPool.Place) {
        let (surplus, serves) = unsafe state.withLock { state in
            let surplus = unsafe state.pool.put(place)
            return unsafe (surplus, state.somethingWasFreed())
        }
        if let surplus = unsafe surplus { unsafe unmap(surplus) }
        if serves { serveQueue() }
    }

    // MARK: Residents

    /// An extent can be given up from now on.
    func admit(_ resident: Resident) -> Ticket {
        let (ticket, serves) = state.withLock { ($0.residents.insert(resident), $0.somethingWasFreed()) }
        if serves { serveQueue() }
        return ticket
    }

    /// An extent is in use after all: it goes on as the newest, and nobody is told of new room.
    func readmit(_ resident: Resident) -> Ticket { state.withLock { $0.residents.insert(resident) } }

    func dismiss(_ ticket: Ticket) { state.withLock { _ = $0.residents.remove(ticket) } }

    func touch(_ ticket: Ticket) { state.withLock { $0.residents.touch(ticket) } }

    /// An extent that was fetched ahead is read for the first time. It keeps its place: bytes that are read in order
    /// are seldom read again, and the kernel has them now.
    func markRead(_ ticket: Ticket) { state.withLock { $0.residents.update(ticket) { $0.isUnread = false } } }

    /// Bytes that replies held are free to go.
    func wasUnpinned() {
        if state.withLock({ $0.somethingWasFreed() }) { serveQueue() }
    }

    private func oldest() -> (ticket: Ticket, resident: Resident)? {
        state.withLock { state in
            while let (ticket, resident) = state.residents.first, resident.isUnread {
                state.residents.update(ticket) { $0.isUnread = false }
                state.residents.touch(ticket)
            }
            return state.residents.removeOldest().map { ($0.ticket, $0.element) }
        }
    }

    // MARK: The queue

    /// Queues a demand that found no room. `attempt` is called from a task, never twice at once, until it answers true.
    func wait(_ attempt: @escaping @Sendable () -> Bool) {
        let serves = state.withLock { state in
            state.queue.append(attempt)
            // What was freed since the caller looked told nobody.
            return state.somethingWasFreed()
        }
        if serves { serveQueue() }
    }

    var queueLength: Int { state.withLock { $0.queue.count } }

    /// In a task, because bytes are freed under locks and on threads that must not start requests. It costs
    /// microseconds, and only when memory is short.
    private func serveQueue() {
        Task.detached { self.serve() }
    }

    private func serve() {
        while let attempt = state.withLock({ $0.queue.first }) {
            if attempt() {
                state.withLock { _ = $0.queue.removeFirst() }
                continue
            }
            let isDone = state.withLock { state in
                defer { state.isServedAgain = false }
                if !state.isServedAgain { state.isServing = false }
                return !state.isServedAgain
            }
            if isDone { return }
        }
        finishServing()
    }

    /// The queue was seen empty; someone may have joined it since.
    private func finishServing() {
        let goesOn = state.withLock { state in
            state.isServedAgain = false
            state.isServing = !state.queue.isEmpty
            return state.isServing
        }
        if goesOn { serve() }
    }
}

/// Who has extents to give up.
protocol ExtentOwner: AnyObject, Sendable {
    /// Lets go of an extent if nobody uses it; else readmits it. It has left the budget's order: `ticket` is void.
    func giveUp(_ resident: MemoryBudget.Resident, _ ticket: MemoryBudget.Ticket)
}

/// The budget does not keep objects alive that nobody reads any more.
final class WeakExtentOwner: Sendable {
    weak let object: (any ExtentOwner)?

    init(_ object: any ExtentOwner) { self.object = object }
}
