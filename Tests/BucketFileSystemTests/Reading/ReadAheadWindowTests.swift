import Testing

@testable import BucketFileSystem

/// Dialogues: reads that come, and what the window asks for.
struct ReadAheadWindowTests {
    private static let size: Int64 = 1 << 30
    private static let limit: Int64 = 128 << 20

    /// Reads of `count` bytes at `offsets` in one way; answers the plans.
    private func plans(
        at offsets: [Int64], count: Int64 = 128 << 10, size: Int64 = size, limit: Int64 = limit
    ) -> [ReadAheadWindow.Plan] {
        var window = ReadAheadWindow(startingAt: offsets[0])
        return offsets.map { window.read($0..<$0 + count, objectSize: size, limit: limit) }
    }

    @Test func theFirstReadAtTheBeginningFetchesTheFirstMebibyte() {
        let plan = plans(at: [0])[0]
        #expect(plan.demand == 0..<1 << 20)
        #expect(plan.ahead.isEmpty)
    }

    @Test func aSmallObjectIsFetchedWholeWhereverItIsReadFirst() {
        let plan = plans(at: [40_960], count: 4_096, size: 100_000)[0]
        #expect(plan.demand == 0..<100_000)
    }

    @Test(arguments: [5_000_000, 65_530] as [Int64])
    func aReadSomewhereFetchesItsNeighbourhood(offset: Int64) {
        let plan = plans(at: [offset], count: 4_096)[0]
        #expect(plan.demand.lowerBound == offset / 65_536 * 65_536)
        #expect(plan.demand.upperBound == (offset + 4_096 + 65_535) / 65_536 * 65_536)
        #expect(plan.ahead.isEmpty)
        #expect(!plan.isSequential)
    }

    @Test func readsInARowOpenTheWindowAtTheThirdAndItDoubles() {
        let steps = (0..<64).map { Int64($0) * 131_072 }
        var window = ReadAheadWindow(startingAt: 0)
        var sizes: [Int64] = []
        for step in steps {
            _ = window.read(step..<step + 131_072, objectSize: Self.size, limit: Self.limit)
            if sizes.last != window.size { sizes.append(window.size) }
        }
        #expect(sizes.first == 0)
        #expect(sizes.dropFirst().map { $0 >> 20 } == [4, 8, 16, 32, 64, 128])
    }

    @Test func aLargeFirstReadOpensTheWindowAtTheBeginningOnly() {
        #expect(plans(at: [0], count: 1 << 20)[0].ahead == 1 << 20..<5 << 20)
        #expect(plans(at: [8 << 20], count: 1 << 20)[0].ahead.isEmpty)
    }

    @Test func whatIsFetchedAheadContinuesWithoutGapOrOverlap() {
        let plans = plans(at: (0..<2_000).map { $0 * 131_072 })
        var end = plans[0].demand.upperBound
        for plan in plans where !plan.ahead.isEmpty {
            #expect(plan.ahead.lowerBound == end)
            end = plan.ahead.upperBound
        }
        #expect(end > 2_000 * 131_072)
    }

    @Test func aWideWindowIsFetchedByManyRequests() {
        let plan = plans(at: (0..<200).map { $0 * 131_072 }).last!
        #expect(plan.chunk == 5 << 20)
        #expect(Self.limit / plan.chunk == 25)
    }

    @Test func theWindowStaysInsideItsLimitAndTheObject() {
        let small = plans(at: (0..<100).map { $0 * 131_072 }, limit: 4 << 20)
        for (index, plan) in small.enumerated() where !plan.ahead.isEmpty {
            #expect(plan.ahead.upperBound <= Int64(index + 1) * 131_072 + 4 << 20)
        }
        let short = plans(at: (0..<16).map { $0 * 131_072 }, size: 3_000_000)
        #expect(short.map(\.ahead.upperBound).max() == 3_000_000)
    }

    @Test func readsALittleOutOfOrderAreReadsInARow() {
        let order = [1, 0, 2, 4, 3, 6, 5, 7, 9, 8].map { Int64($0) * 131_072 }
        var window = ReadAheadWindow(startingAt: order[0])
        for offset in order {
            #expect(window.accepts(offset..<offset + 131_072))
            _ = window.read(offset..<offset + 131_072, objectSize: Self.size, limit: Self.limit)
        }
        #expect(window.isOpen)
        #expect(window.front == 10 * 131_072)
    }

    @Test func aSkipInsideTheWindowStaysInIt() {
        var window = ReadAheadWindow(startingAt: 0)
        for step in 0..<100 as Range<Int64> {
            _ = window.read(step * 131_072..<(step + 1) * 131_072, objectSize: Self.size, limit: Self.limit)
        }
        let far: Int64 = 100 * 131_072 + 60 << 20
        #expect(window.accepts(far..<far + 131_072))
        #expect(!window.accepts(far + 500 << 20..<far + 501 << 20))
    }

    @Test func aBackwardStepIsNoNewWay() {
        var window = ReadAheadWindow(startingAt: 0)
        for step in 0..<10 as Range<Int64> {
            _ = window.read(step * 131_072..<(step + 1) * 131_072, objectSize: Self.size, limit: Self.limit)
        }
        let size = window.size
        #expect(window.accepts(0..<4_096))
        _ = window.read(0..<4_096, objectSize: Self.size, limit: Self.limit)
        #expect(window.size == size)
        #expect(window.front == 10 * 131_072)
    }

    @Test func readingOnePlaceAgainAndAgainOpensNothing() {
        let plans = plans(at: [Int64](repeating: 8 << 20, count: 50), count: 4_096)
        #expect(plans.allSatisfy { $0.ahead.isEmpty && !$0.isSequential })
    }

    @Test func whatFoundNoRoomIsPlannedAgain() {
        var window = ReadAheadWindow(startingAt: 0)
        var plan = window.read(0..<131_072, objectSize: Self.size, limit: Self.limit)
        for step in 1..<3 as Range<Int64> {
            plan = window.read(step * 131_072..<(step + 1) * 131_072, objectSize: Self.size, limit: Self.limit)
        }
        let refused = plan.ahead
        window.refused(at: refused.lowerBound)
        plan = window.read(3 * 131_072..<4 * 131_072, objectSize: Self.size, limit: Self.limit)
        #expect(plan.ahead.lowerBound == refused.lowerBound)
    }
}
