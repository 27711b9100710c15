import ObjectStore
import TestSupport
import Testing

struct UploadTransferTests {
    typealias Action = UploadTransfer.Action

    private func opened(size: Int64?, chunkSize: Int64? = nil, sessionLimit: Int = 4) -> (UploadTransfer, Action) {
        var transfer = UploadTransfer(size: size, chunkSize: chunkSize, sessionLimit: sessionLimit)
        let action = transfer.next(after: .opened)
        return (transfer, action)
    }

    @Test func everythingLeavesInOneRequest() {
        var (transfer, action) = opened(size: 1_000_000)
        #expect(transfer.firstAction == .start)
        #expect(action == .send(offset: 0, count: 1_000_000, isLast: true))
        action = transfer.next(after: .completed)
        #expect(action == .finish)
        #expect(transfer.confirmed == 1_000_000)
    }

    @Test func anEmptyObjectIsOneEmptyRequest() {
        let (_, action) = opened(size: 0)
        #expect(action == .send(offset: 0, count: 0, isLast: true))
    }

    @Test func chunksAreWholeGranules() {
        var (transfer, action) = opened(size: 700_000, chunkSize: 300_000)
        #expect(action == .send(offset: 0, count: 262_144, isLast: false))
        action = transfer.next(after: .stored(upTo: 262_144))
        #expect(action == .send(offset: 262_144, count: 262_144, isLast: false))
        action = transfer.next(after: .stored(upTo: 524_288))
        #expect(action == .send(offset: 524_288, count: 175_712, isLast: true))
    }

    @Test(arguments: [
        (300_000, 10_000, 300_000), (305_000, 10_000, 300_000), (1, 10_000, 10_000), (9, 262_144, 262_144),
    ])
    func theServerOfASessionSaysWhatAGranuleIs(wanted: Int64, granularity: Int64, count: Int64) {
        var transfer = UploadTransfer(size: 700_000, chunkSize: wanted)
        transfer.granularity = granularity
        #expect(transfer.next(after: .opened) == .send(offset: 0, count: count, isLast: false))
    }

    @Test func aServerThatTookLessIsSentTheRest() {
        var (transfer, _) = opened(size: 1_000_000)
        #expect(transfer.next(after: .stored(upTo: 262_144)) == .send(offset: 262_144, count: 737_856, isLast: true))
        #expect(transfer.next(after: .stored(upTo: 0)) == .send(offset: 0, count: 1_000_000, isLast: true))
    }

    @Test func aServerThatHasAllAndIsNotDoneGetsTheEnd() {
        var (transfer, _) = opened(size: 10)
        #expect(transfer.next(after: .stored(upTo: 10)) == .send(offset: 10, count: 0, isLast: true))
    }

    @Test func anInterruptionIsFollowedByAQuestion() {
        var (transfer, _) = opened(size: 100)
        #expect(transfer.next(after: .interrupted) == .query)
        #expect(transfer.next(after: .interrupted) == .query)
        #expect(transfer.next(after: .stored(upTo: 40)) == .send(offset: 40, count: 60, isLast: true))
        #expect(transfer.next(after: .interrupted) == .query)
        #expect(transfer.next(after: .completed) == .finish)
    }

    @Test func aLostSessionIsOpenedAnewButNotForEver() {
        var (transfer, _) = opened(size: 100, sessionLimit: 2)
        _ = transfer.next(after: .stored(upTo: 50))
        #expect(transfer.next(after: .sessionLost) == .start)
        #expect(transfer.next(after: .opened) == .send(offset: 0, count: 100, isLast: true))
        #expect(transfer.confirmed == 0)
        #expect(transfer.next(after: .sessionLost) == .fail(.tooManySessions))
    }

    @Test func aQuestionThatEndsTheSessionTooEarlyStartsOver() {
        var (transfer, _) = opened(size: 100)
        _ = transfer.next(after: .interrupted)
        #expect(transfer.next(after: .completedWrongly) == .start)
    }

    @Test func bytesThatWereNeverSentAreNotBelieved() {
        var (transfer, _) = opened(size: 700_000, chunkSize: 262_144)
        #expect(transfer.next(after: .stored(upTo: 262_145)) == .fail(.storedBeyondSent(262_145)))
    }

    @Test func aGrowingSourceIsSentInWholeGranulesUntilItEnds() {
        var (transfer, action) = opened(size: nil, chunkSize: 1 << 20)
        #expect(action == .awaitGrowth(beyond: 0))
        #expect(transfer.next(after: .grew(to: 300_000)) == .send(offset: 0, count: 262_144, isLast: false))
        #expect(transfer.next(after: .stored(upTo: 262_144)) == .awaitGrowth(beyond: 262_144))
        #expect(transfer.next(after: .grew(to: 4 << 20)) == .send(offset: 262_144, count: 1 << 20, isLast: false))
        #expect(
            transfer.next(after: .stored(upTo: 1_310_720)) == .send(offset: 1_310_720, count: 1 << 20, isLast: false))
        action = transfer.next(after: .stored(upTo: 2_359_296))
        action = transfer.next(after: .stored(upTo: 3_407_872))
        #expect(action == .send(offset: 3_407_872, count: 786_432, isLast: false))
        #expect(transfer.next(after: .stored(upTo: 4 << 20)) == .awaitGrowth(beyond: 4 << 20))
        #expect(transfer.next(after: .ended(size: 4 << 20 + 5)) == .send(offset: 4 << 20, count: 5, isLast: true))
        #expect(transfer.next(after: .completed) == .finish)
    }

    @Test func aSourceThatEndsWhereTheServerIsCostsOneEmptyRequest() {
        var (transfer, _) = opened(size: nil)
        _ = transfer.next(after: .grew(to: 262_144))
        _ = transfer.next(after: .stored(upTo: 262_144))
        #expect(transfer.next(after: .ended(size: 262_144)) == .send(offset: 262_144, count: 0, isLast: true))
    }

    @Test func aLostSessionOfAGrowingSourceBeginsAgainWithWhatIsThere() {
        var (transfer, _) = opened(size: nil)
        _ = transfer.next(after: .grew(to: 524_288))
        #expect(transfer.next(after: .interrupted) == .query)
        #expect(transfer.next(after: .sessionLost) == .start)
        #expect(transfer.next(after: .opened) == .send(offset: 0, count: 524_288, isLast: false))
    }

    @Test func aSessionThatEndsBeforeItsSourceIsNotBelieved() {
        var (transfer, _) = opened(size: nil)
        _ = transfer.next(after: .grew(to: 524_288))
        #expect(transfer.next(after: .completed) == .fail(.outOfTurn))
    }

    @Test func aSourceThatGrowsCanBePausedAndCancelled() {
        var (transfer, _) = opened(size: nil)
        #expect(transfer.next(after: .paused) == .wait)
        #expect(transfer.next(after: .resumed) == .query)
        #expect(transfer.next(after: .stored(upTo: 0)) == .awaitGrowth(beyond: 0))
        #expect(transfer.next(after: .cancelled) == .discard)
    }

    @Test func aPausedUploadAsksWhenItIsResumed() {
        var (transfer, _) = opened(size: 100)
        #expect(transfer.next(after: .paused) == .wait)
        #expect(transfer.next(after: .resumed) == .query)
        #expect(transfer.next(after: .paused) == .wait)
        #expect(transfer.next(after: .resumed) == .query)
        #expect(transfer.next(after: .stored(upTo: 40)) == .send(offset: 40, count: 60, isLast: true))
    }

    @Test func anUploadPausedBeforeItsSessionBeginsWithIt() {
        var transfer = UploadTransfer(size: 100)
        #expect(transfer.next(after: .paused) == .wait)
        #expect(transfer.next(after: .resumed) == .start)
    }

    @Test func aCancelledUploadEndsItsSession() {
        var (transfer, _) = opened(size: 100)
        #expect(transfer.next(after: .paused) == .wait)
        #expect(transfer.next(after: .cancelled) == .discard)
        #expect(transfer.next(after: .discarded) == .fail(.cancelled))
        #expect(transfer.next(after: .resumed) == .fail(.outOfTurn))
    }

    @Test func withoutASessionThereIsNothingToEnd() {
        var transfer = UploadTransfer(size: 100)
        #expect(transfer.next(after: .cancelled) == .fail(.cancelled))
        var (other, _) = opened(size: 100)
        #expect(other.next(after: .sessionLost) == .start)
        #expect(other.next(after: .cancelled) == .fail(.cancelled))
    }

    @Test func afterTheEndNothingMakesSense() {
        var (transfer, _) = opened(size: 100)
        _ = transfer.next(after: .completed)
        #expect(transfer.next(after: .stored(upTo: 10)) == .fail(.outOfTurn))
    }

    /// A server that takes what it likes, forgets what it likes and breaks off when it likes: what it holds is at each
    /// moment a beginning of the object, and in the end all of it.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func noDialogueLeavesAGap(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let size = Int64.random(in: 0...2_000_000, using: &random)
        let grows = Bool.random(using: &random)
        var grown: Int64 = 0
        var transfer = UploadTransfer(
            size: grows ? nil : size, chunkSize: Bool.random(using: &random) ? 262_144 : nil, sessionLimit: 1_000)
        var stored: Int64 = 0
        var isComplete = false
        var action = transfer.firstAction
        for _ in 0..<100_000 {
            let event: UploadTransfer.Event
            switch action {
            case .start:
                stored = 0
                event = Int.random(in: 0..<4, using: &random) == 0 ? .interrupted : .opened
            case .send(let offset, let count, let isLast):
                #expect(offset <= stored, "a gap")
                #expect(!isLast || offset + count == size)
                let taken = Bool.random(using: &random) ? count : Int64.random(in: 0...count, using: &random)
                stored = max(stored, offset + taken)
                isComplete = isLast && stored == size
                event =
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: .interrupted
                    case 1 where !isComplete: .sessionLost
                    default: isComplete ? .completed : .stored(upTo: stored)
                    }
            case .query:
                event =
                    Int.random(in: 0..<3, using: &random) == 0
                    ? .interrupted : isComplete ? .completed : .stored(upTo: stored)
            case .finish:
                #expect(isComplete && stored == size)
                return
            case .wait:
                event = .resumed
            case .awaitGrowth:
                grown = min(size, grown + Int64.random(in: 0...600_000, using: &random))
                event = grown == size ? .ended(size: size) : .grew(to: grown)
            case .discard:
                Issue.record("nobody cancelled")
                return
            case .fail(let failure):
                Issue.record("failed: \(failure)")
                return
            }
            let isPaused = action != .wait && Int.random(in: 0..<8, using: &random) == 0
            action = transfer.next(after: isPaused ? .paused : event)
        }
        Issue.record("no end")
    }
}
