import Locking

/// Where an open handle has been, and how far ahead of it to fetch. One per handle; callable from any thread.
/// Fetching ahead for it stops when it is closed, at the latest with its last reference.
final class ReadCursor: Sendable {
    /// One way through an object. A handle can have several: threads that share it, a container's index and its data.
    struct Way: Sendable {
        var id: WayID
        var window: ReadAheadWindow
        /// While the window is open.
        var share: WindowShare?
    }

    /// Names a way, to find the requests that were started for it.
    struct WayID: Hashable, Sendable {
        fileprivate var cursor: ObjectIdentifier
        fileprivate var number: Int
    }

    /// What a read means for the fetching.
    struct Advice: Sendable {
        var plan: ReadAheadWindow.Plan
        var way: WayID
        /// A way that is left: what is under way for it serves no one.
        var abandoned: WayID?
    }

    private struct State {
        /// The latest used first.
        var ways: [Way] = []
        var lastNumber = 0
        var isClosed = false
        weak var content: ObjectContent?
    }

    /// Programs that read one file by many threads seldom have more; looking through them costs nanoseconds.
    private static let mostWays = 16
    private let state = Lock(State())

    init() {}

    deinit { close() }

    /// Stops fetching ahead. Reads still work.
    func close() {
        let (content, ways) = state.withLock { state in
            defer { state.ways = [] }
            state.isClosed = true
            return (state.content, state.ways)
        }
        for way in ways where way.window.isOpen { content?.cancelReadAhead(for: way.id) }
    }

    /// A read of `wanted`, which is not empty and inside `content`, is about to happen.
    func advice(for wanted: Range<Int64>, in content: ObjectContent) -> Advice {
        // The content that was read before may end with this reference, not under the lock.
        var previous: ObjectContent?
        defer { withExtendedLifetime(previous) {} }
        return state.withLock { state in
            previous = state.content
            if previous !== content {
                state.content = content
                state.ways = []
            }
            var abandoned: WayID?
            var way = takeWay(for: wanted, from: &state, abandoned: &abandoned)
            let windows = content.engine.windows
            let plan = way.window.read(
                wanted, objectSize: content.size, limit: windows.largest(counting: way.share == nil ? 1 : 0))
            if way.window.isOpen, way.share == nil { way.share = WindowShare(of: windows) }
            let advice = Advice(plan: plan, way: way.id, abandoned: abandoned)
            if !state.isClosed { state.ways.insert(way, at: 0) }
            return advice
        }
    }

    /// No room was found for fetching ahead from `offset` on.
    func refused(_ way: WayID, at offset: Int64) {
        state.withLock { state in
            guard let index = state.ways.firstIndex(where: { $0.id == way }) else { return }
            state.ways[index].window.refused(at: offset)
        }
    }

    private func takeWay(for wanted: Range<Int64>, from state: inout State, abandoned: inout WayID?) -> Way {
        if let index = state.ways.firstIndex(where: { $0.window.accepts(wanted) }) {
            return state.ways.remove(at: index)
        }
        if state.ways.count == Self.mostWays {
            let left = state.ways.removeLast()
            if left.window.isOpen { abandoned = left.id }
        }
        state.lastNumber += 1
        return Way(
            id: WayID(cursor: ObjectIdentifier(self), number: state.lastNumber),
            window: ReadAheadWindow(startingAt: wanted.lowerBound))
    }
}

/// How large each open window of a mount may be: half the memory, divided among them.
final class WindowShares: Sendable {
    private let total: Int64
    private let count = Lock(0)

    init(memoryLimit: Int64) { total = memoryLimit / 2 }

    /// The largest window for now.
    /// - Parameter more: windows that are about to open.
    func largest(counting more: Int) -> Int64 {
        min(ReadAheadWindow.largestWindow, total / Int64(max(1, count.withLock { $0 } + more)))
    }

    fileprivate func add(_ change: Int) { count.withLock { $0 += change } }
}

/// An open window, as long as it lives.
final class WindowShare: Sendable {
    private let shares: WindowShares

    init(of shares: WindowShares) {
        self.shares = shares
        shares.add(1)
    }

    deinit { shares.add(-1) }
}
