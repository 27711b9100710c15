import Locking
import TestSupport
import Testing

@testable import BucketFileSystem

struct MemoryBudgetTests {
    private static let mebibyte: Int64 = 1 << 20

    @Test func blocksFillTheLimitAndNotMore() {
        let budget = MemoryBudget(limit: 8 * Self.mebibyte)
        let all = budget.allocate(8 * Self.mebibyte, for: .demand)
        #expect(all?.count == 8)
        #expect(budget.allocate(1, for: .demand) == nil)
        withExtendedLifetime(all) {}
    }

    @Test func aRowOfBlocksIsGivenWholeOrNotAtAll() {
        let budget = MemoryBudget(limit: 8 * Self.mebibyte)
        let half = budget.allocate(4 * Self.mebibyte, for: .demand)
        #expect(budget.allocate(5 * Self.mebibyte, for: .demand) == nil)
        #expect(budget.allocate(4 * Self.mebibyte, for: .demand) != nil)
        withExtendedLifetime(half) {}
    }

    @Test func smallBlocksShareASlab() {
        let budget = MemoryBudget(limit: 8 * Self.mebibyte)
        let blocks = (0..<256).compactMap { _ in budget.allocate(4_096, for: .demand)?.first }
        #expect(blocks.count == 256)
        #expect(budget.mappedBytes == Self.mebibyte)
        let addresses = Set(blocks.map { unsafe UInt(bitPattern: $0.bytes.baseAddress) })
        #expect(addresses.count == 256)
        #expect(addresses.allSatisfy { $0 % 4_096 == 0 })
    }

    @Test func memoryThatIsNotUsedGoesBackToTheSystem() {
        let budget = MemoryBudget(limit: 64 * Self.mebibyte)
        var blocks = budget.allocate(64 * Self.mebibyte, for: .demand)
        #expect(budget.mappedBytes == 64 * Self.mebibyte)
        withExtendedLifetime(blocks) {}
        blocks = nil
        #expect(budget.mappedBytes == 16 * Self.mebibyte)
    }

    @Test(arguments: 0..<8 as Range<UInt64>) func anySizesAndOrdersStayInsideTheLimit(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let budget = MemoryBudget(limit: 8 * Self.mebibyte)
        var held: [[Block]] = []
        for _ in 0..<2_000 {
            if random.next() % 2 == 0, !held.isEmpty {
                held.remove(at: Int(random.next() % UInt64(held.count)))
                continue
            }
            let count = 1 + Int64(random.next() % (3 << 20)) >> (random.next() % 12)
            if let blocks = budget.allocate(count, for: .demand) {
                held.append(blocks)
            }
            #expect(budget.mappedBytes <= 8 * Self.mebibyte)
        }
        held = []
        #expect(budget.allocate(8 * Self.mebibyte, for: .demand) != nil)
    }

    @Test func theQueueIsServedInOrderAndNobodyOvertakesIt() async {
        let budget = MemoryBudget(limit: 8 * Self.mebibyte)
        let served = Served()
        var all = budget.allocate(8 * Self.mebibyte, for: .demand)
        for number in 0..<3 {
            budget.wait {
                guard let blocks = budget.allocate(3 * Self.mebibyte, for: .queuedDemand) else { return false }
                served.add(number, blocks)
                return true
            }
        }
        withExtendedLifetime(all) {}
        all = nil
        await served.wait(for: 2)
        #expect(budget.queueLength == 1)
        #expect(budget.allocate(1, for: .demand) == nil)
        served.release()
        await served.wait(for: 3)
        #expect(served.numbers == [0, 1, 2])
    }
}

private final class Served: Sendable {
    private let state = Lock<(numbers: [Int], blocks: [[Block]])>(([], []))

    var numbers: [Int] { state.withLock { $0.numbers } }

    func add(_ number: Int, _ blocks: [Block]) {
        state.withLock {
            $0.numbers.append(number)
            $0.blocks.append(blocks)
        }
    }

    func release() {
        let blocks = state.withLock { state in
            defer { state.blocks = [] }
            return state.blocks
        }
        withExtendedLifetime(blocks) {}
    }

    func wait(for count: Int) async {
        while numbers.count < count { await Task.yield() }
    }
}
