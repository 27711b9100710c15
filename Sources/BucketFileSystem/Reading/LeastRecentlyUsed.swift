/// Elements in the order of their last use. All operations take constant time.
struct LeastRecentlyUsed<Element> {
    /// Names one stay of an element; a place that is used again is another stay.
    struct Ticket: Equatable, Sendable {
        fileprivate var index: Int
        fileprivate var serial: UInt64
    }

    private struct Place {
        var element: Element?
        var serial: UInt64 = 0
        var older = none
        var newer = none
    }

    private static var none: Int { -1 }

    private var places: [Place] = []
    private var free: [Int] = []
    private var oldest = none
    private var newest = none
    private var lastSerial: UInt64 = 0
    private(set) var count = 0

    /// Adds an element as the newest.
    mutating func insert(_ element: Element) -> Ticket {
        let index: Int
        if let reused = free.popLast() {
            index = reused
        } else {
            index = places.count
            places.append(Place())
        }
        lastSerial += 1
        places[index].element = element
        places[index].serial = lastSerial
        count += 1
        link(index)
        return Ticket(index: index, serial: lastSerial)
    }

    /// Makes an element the newest; nothing happens if it has left.
    mutating func touch(_ ticket: Ticket) {
        guard holds(ticket), newest != ticket.index else { return }
        unlink(ticket.index)
        link(ticket.index)
    }

    /// Changes an element where it is; nothing happens if it has left.
    mutating func update(_ ticket: Ticket, _ change: (inout Element) -> Void) {
        guard holds(ticket) else { return }
        change(&places[ticket.index].element!)
    }

    /// Nil if it has left.
    @discardableResult
    mutating func remove(_ ticket: Ticket) -> Element? {
        guard holds(ticket) else { return nil }
        return take(ticket.index)
    }

    /// Takes out the oldest element.
    mutating func removeOldest() -> (ticket: Ticket, element: Element)? {
        guard oldest != Self.none else { return nil }
        let ticket = Ticket(index: oldest, serial: places[oldest].serial)
        return (ticket, take(oldest))
    }

    /// The oldest element, and who it is.
    var first: (ticket: Ticket, element: Element)? {
        guard oldest != Self.none, let element = places[oldest].element else { return nil }
        return (Ticket(index: oldest, serial: places[oldest].serial), element)
    }

    private func holds(_ ticket: Ticket) -> Bool {
        places[ticket.index].serial == ticket.serial && places[ticket.index].element != nil
    }

    private mutating func take(_ index: Int) -> Element {
        unlink(index)
        free.append(index)
        count -= 1
        return places[index].element.take()!
    }

    private mutating func link(_ index: Int) {
        places[index].older = newest
        places[index].newer = Self.none
        if newest == Self.none { oldest = index } else { places[newest].newer = index }
        newest = index
    }

    private mutating func unlink(_ index: Int) {
        let (older, newer) = (places[index].older, places[index].newer)
        if older == Self.none { oldest = newer } else { places[older].newer = newer }
        if newer == Self.none { newest = older } else { places[newer].older = older }
    }
}
