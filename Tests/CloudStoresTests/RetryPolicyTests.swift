import HTTPTransport
import Testing

@testable import CloudStores

struct RetryPolicyTests {
    typealias Failure = RetryPolicy.Failure

    let policy = RetryPolicy(timeLimit: .seconds(60))

    private func isRetried(_ failure: Failure, _ safety: RetryPolicy.Safety) -> Bool {
        policy.pause(after: failure, safety, failures: 1, idle: .zero, random: 0.5) != nil
    }

    private static func status(_ status: Int) -> Failure {
        .answer(status: status, isRateLimit: false, retryAfter: nil)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504, 599])
    func whatMayPassIsRetried(status: Int) {
        #expect(isRetried(Self.status(status), .repeatable))
    }

    @Test(arguments: [200, 304, 308, 400, 401, 403, 404, 405, 409, 410, 411, 412, 413, 416, 499, 501])
    func whatStaysIsNotRetried(status: Int) {
        #expect(!isRetried(Self.status(status), .repeatable))
        #expect(!isRetried(Self.status(status), .onceOnly))
    }

    @Test(arguments: [408, 500, 502, 503, 504])
    func whatMayHaveActedIsNotRetriedWhenOnceIsTheLimit(status: Int) {
        #expect(!isRetried(Self.status(status), .onceOnly))
        #expect(RetryPolicy.mayHaveActed(Self.status(status)))
    }

    @Test func rateLimitsAreRetriedAlways() {
        let limited = Failure.answer(status: 403, isRateLimit: true, retryAfter: nil)
        #expect(isRetried(limited, .onceOnly) && isRetried(Self.status(429), .onceOnly))
        #expect(!RetryPolicy.mayHaveActed(limited) && !RetryPolicy.mayHaveActed(Self.status(429)))
    }

    @Test(
        arguments: [
            (.unresolved, true, true, false), (.notConnected, true, true, false), (.connectionLost, true, false, true),
            (.timedOut, true, false, true), (.insecure, false, false, false),
            (.credentialsOverPlainHTTP, false, false, false), (.malformed, false, false, true),
            (.bodySource, false, false, false), (.cancelled, false, false, false),
        ] as [(TransportError.Kind, Bool, Bool, Bool)])
    func transportFailures(kind: TransportError.Kind, repeatable: Bool, once: Bool, acted: Bool) {
        #expect(isRetried(.transport(kind), .repeatable) == repeatable)
        #expect(isRetried(.transport(kind), .onceOnly) == once)
        #expect(RetryPolicy.mayHaveActed(.transport(kind)) == acted)
    }

    @Test func pausesDoubleUpToABoundAndAreDrawnFromZero() {
        func pause(_ failures: Int, _ random: Double) -> Duration? {
            policy.pause(after: Self.status(503), .repeatable, failures: failures, idle: .zero, random: random)
        }
        #expect(pause(1, 0) == .zero)
        #expect(pause(1, 0.5) == .milliseconds(500))
        #expect(pause(2, 0.5) == .seconds(1))
        #expect(pause(5, 0.5) == .seconds(8))
        #expect(pause(6, 0.5) == .seconds(15))
        #expect(pause(19, 0.5) == .seconds(15))
    }

    @Test func retryAfterIsHonoured() {
        let asked = Failure.answer(status: 503, isRateLimit: false, retryAfter: .seconds(7))
        #expect(policy.pause(after: asked, .repeatable, failures: 1, idle: .zero, random: 0.9) == .seconds(7))
        let tooLong = Failure.answer(status: 503, isRateLimit: false, retryAfter: .seconds(61))
        #expect(policy.pause(after: tooLong, .repeatable, failures: 1, idle: .zero, random: 0.9) == nil)
    }

    @Test func timeAndAttemptsAreBounded() {
        let failure = Self.status(503)
        #expect(
            policy.pause(after: failure, .repeatable, failures: 1, idle: .seconds(59), random: 0.9)
                == .milliseconds(500))
        #expect(policy.pause(after: failure, .repeatable, failures: 1, idle: .seconds(60), random: 0) == nil)
        #expect(policy.pause(after: failure, .repeatable, failures: 20, idle: .zero, random: 0) == nil)
    }

    @Test func theTimeIsUsedToItsEnd() {
        let clock = PauseClock(random: 0.999)
        var state = RetryState(policy: policy, clock: clock.retryClock)
        while let pause = state.pause(after: Self.status(503), .repeatable) { clock.advance(by: pause) }
        #expect(state.remaining < .seconds(2))
        #expect(state.remaining > .zero)
    }

    @Test func bytesThatAreSentAgainAreNoProgress() {
        let clock = PauseClock()
        var state = RetryState(policy: policy, clock: clock.retryClock)
        clock.advance(by: .seconds(20))
        state.moved(to: 1_000, at: clock.retryClock.now())
        #expect(state.idle == .zero)
        clock.advance(by: .seconds(20))
        state.moved(to: 1_000, at: clock.retryClock.now())
        #expect(state.idle == .seconds(20))
        state.moved(to: 1_001, at: clock.retryClock.now())
        #expect(state.idle == .zero)
    }

    @Test func progressStartsTheCountAgain() {
        let clock = PauseClock()
        var state = RetryState(policy: policy, clock: clock.retryClock)
        clock.advance(by: .seconds(59))
        #expect(state.remaining == .seconds(1))
        state.progressed()
        #expect(state.remaining == .seconds(60))
        #expect(state.pause(after: Self.status(503), .repeatable) == .milliseconds(500))
        #expect(state.pause(after: Self.status(503), .repeatable) == .seconds(1))
        state.progressed()
        #expect(state.pause(after: Self.status(503), .repeatable) == .milliseconds(500))
        #expect(state.isAmbiguous)
    }
}
