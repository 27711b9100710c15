import Testing

@testable import CloudStores

struct ServiceHearingTests {
    private let hearing = ServiceHearing()
    private let limit = Duration.seconds(60)

    @Test func aServiceThatNobodyHeardOfForTheWholeTimeIsGoneForAWhile() {
        #expect(!hearing.isGone(at: .seconds(100), limit: limit))
        hearing.failed(at: .seconds(160), after: .seconds(59), of: limit)
        #expect(hearing.isGone(at: .seconds(160), limit: limit))
        #expect(hearing.isGone(at: .seconds(219), limit: limit))
        #expect(!hearing.isGone(at: .seconds(220), limit: limit), "a patient request is due again")
    }

    @Test func anAnswerBringsItBack() {
        hearing.failed(at: .seconds(160), after: .seconds(59), of: limit)
        hearing.heard(at: .seconds(161))
        #expect(!hearing.isGone(at: .seconds(161), limit: limit))
    }

    @Test func whoeverFailsWhileOthersAreAnsweredSaysNothingOfTheService() {
        hearing.heard(at: .seconds(150))
        hearing.failed(at: .seconds(160), after: .seconds(59), of: limit)
        #expect(!hearing.isGone(at: .seconds(160), limit: limit))
    }

    @Test func aQuickFailureSaysNothingOfTheService() {
        hearing.failed(at: .seconds(160), after: .seconds(2), of: limit)
        #expect(!hearing.isGone(at: .seconds(160), limit: limit))
    }
}
