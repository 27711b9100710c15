import TestSupport
import Testing

@testable import BucketFileSystem

struct LeastRecentlyUsedTests {
    @Test func theOldestLeavesFirstAndATouchMakesNew() {
        var order = LeastRecentlyUsed<Int>()
        let tickets = (0..<4).map { order.insert($0) }
        order.touch(tickets[0])
        order.remove(tickets[2])
        #expect([order.removeOldest(), order.removeOldest(), order.removeOldest()].map { $0?.element } == [1, 3, 0])
        #expect(order.removeOldest() == nil)
    }

    @Test func aTicketIsVoidOnceItsElementLeft() {
        var order = LeastRecentlyUsed<Int>()
        let old = order.insert(1)
        order.remove(old)
        _ = order.insert(2)
        order.touch(old)
        #expect(order.remove(old) == nil)
        #expect(order.count == 1)
    }

    @Test(arguments: 0..<16 as Range<UInt64>) func itAgreesWithAPlainArray(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var order = LeastRecentlyUsed<UInt64>()
        var model: [(ticket: LeastRecentlyUsed<UInt64>.Ticket, element: UInt64)] = []
        for step in 0..<500 as Range<UInt64> {
            switch random.next() % 4 {
            case 0, 1: model.append((order.insert(step), step))
            case 2 where !model.isEmpty:
                let moved = model.remove(at: Int(random.next() % UInt64(model.count)))
                order.touch(moved.ticket)
                model.append(moved)
            default:
                #expect(order.removeOldest()?.element == (model.isEmpty ? nil : model.removeFirst().element))
            }
            #expect(order.count == model.count)
        }
    }
}
