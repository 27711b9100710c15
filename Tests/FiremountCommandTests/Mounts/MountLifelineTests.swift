import Glibc
import Testing

@testable import firemount

struct MountLifelineTests {
    @Test func whoWaitsHearsTheEndAndWhatWasLost() throws {
        let device = "test:\(getpid()):lost"
        let lifeline = try MountLifeline(device: device)
        var watch = try watching(device)
        #expect(watch.processID == getpid())
        let watchEndEarly = watch.end(within: .milliseconds(1))
        #expect(watchEndEarly == nil)

        lifeline.end(lost: ["a/b", "two\nlines"])

        let watchEnd = watch.end(within: .seconds(10))
        #expect(watchEnd == .finished(lost: ["a/b", "two lines"]))
    }

    @Test func whoWaitsHearsForWhat() throws {
        let device = "test:\(getpid()):progress"
        var lifeline = try MountLifeline(device: device)
        var watch = try watching(device)

        lifeline.report("2 files left")
        lifeline.report("1 file left")

        var told: [String] = []
        let early = watch.end(within: .milliseconds(50)) { told.append($0) }
        #expect(early == nil)
        #expect(told == ["2 files left", "1 file left"])

        lifeline.end(lost: ["a"])

        let end = watch.end(within: .seconds(10)) { told.append($0) }
        #expect(end == .finished(lost: ["a"]))
        #expect(told.count == 2)
    }

    @Test func anEndWithoutLossIsTold() throws {
        let device = "test:\(getpid()):end"
        let lifeline = try MountLifeline(device: device)
        var first = try watching(device)
        var second = try watching(device)

        lifeline.end(lost: [])

        let firstEnd = first.end(within: .seconds(10))
        #expect(firstEnd == .finished(lost: []))
        let secondEnd = second.end(within: .seconds(10))
        #expect(secondEnd == .finished(lost: []))
    }

    @Test func aProcessThatDiesSaysNothing() throws {
        let device = "test:\(getpid()):died"
        var watch: MountWatch
        do {
            let lifeline = try MountLifeline(device: device)
            watch = try watching(device)
            _ = consume lifeline
        }
        let watchEnd = watch.end(within: .seconds(10))
        #expect(watchEnd == .died)
    }

    @Test func nobodyListensForAMountThatIsNotThere() {
        #expect(throws: SystemError.self) { _ = try watching("test:\(getpid()):none") }
    }

    @Test func aMountHasOneLifeline() throws {
        let device = "test:\(getpid()):twice"
        let first = try MountLifeline(device: device)
        #expect(throws: SystemError(code: EADDRINUSE)) { _ = try MountLifeline(device: device) }
        first.end(lost: [])
    }

    /// The process behind the first may store for long after its mount is gone.
    @Test func anotherMountOfTheSameNumberHasItsOwn() throws {
        let device = "test:\(getpid()):again"
        var first = try MountLifeline(device: device)
        var firstWatch = try watching(device)
        first.stopListening()
        let second = try MountLifeline.taken(device: device)
        var secondWatch = try watching(device)
        first.end(lost: ["first"])
        second.end(lost: ["second"])
        let firstEnd = firstWatch.end(within: .seconds(10))
        #expect(firstEnd == .finished(lost: ["first"]))
        let secondEnd = secondWatch.end(within: .seconds(10))
        #expect(secondEnd == .finished(lost: ["second"]))
    }

    private func watching(_ device: String) throws -> MountWatch {
        guard let watch = MountWatch(device: device, userID: geteuid()) else { throw SystemError(code: ECONNREFUSED) }
        return watch
    }
}
