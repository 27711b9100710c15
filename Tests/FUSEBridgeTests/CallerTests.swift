import Glibc
import Testing

@testable import FUSEBridge

struct CallerTests {
    /// As `/proc/PID/status` writes masks: 16 hexadecimal digits after a tab.
    private func status(pending: [Int32], shared: [Int32] = [], handled: [Int32] = [], blocked: [Int32] = []) -> String
    {
        func mask(_ signals: [Int32]) -> String {
            let bits = signals.reduce(UInt64(0)) { $0 | 1 << UInt64($1 - 1) }
            let digits = String(bits, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return """
            Name:\tcat
            SigQ:\t1/95873
            SigPnd:\t\(mask(pending))
            ShdPnd:\t\(mask(shared))
            SigBlk:\t\(mask(blocked))
            SigIgn:\t0000000000000000
            SigCgt:\t\(mask(handled))

            """
    }

    @Test func aPendingKillIsFatal() {
        #expect(SignalState(status: status(pending: [SIGKILL])).isFatal)
    }

    @Test func aSignalThatTheCallerHandlesIsNotFatal() {
        #expect(!SignalState(status: status(pending: [SIGALRM], handled: [SIGALRM])).isFatal)
        #expect(!SignalState(status: status(pending: [], shared: [SIGQUIT], handled: [SIGQUIT])).isFatal)
    }

    @Test func aSignalThatIsIgnoredByDefaultIsNotFatal() {
        #expect(!SignalState(status: status(pending: [], shared: [SIGCHLD, SIGWINCH])).isFatal)
    }

    @Test func aSignalThatDumpsCoreIsFatalUnlessBlocked() {
        #expect(SignalState(status: status(pending: [], shared: [SIGQUIT])).isFatal)
        #expect(!SignalState(status: status(pending: [], shared: [SIGQUIT], blocked: [SIGQUIT])).isFatal)
    }

    @Test func aLiveThreadIsNotDying() {
        #expect(!Caller(threadID: getpid()).isDying)
    }

    @Test func aCallerThatCannotBeSeenCountsAsDying() {
        #expect(Caller(threadID: 0).isDying)
    }

    /// As `/proc/PID/stat` has it, of a program whose name is made to confuse.
    private func threadState(flags: UInt64, exitCode: Int) -> String {
        "12 (a) S 0 (b) S 1 1 1 0 -1 \(flags) " + (10...51).map { "\($0) " }.joined() + "\(exitCode)\n"
    }

    @Test func aThreadThatASignalHasEndedIsToldFromOneThatExits() throws {
        #expect(try #require(ThreadState(threadState(flags: 0x40_010C, exitCode: 9))).isEndedBySignal)
        #expect(try #require(ThreadState(threadState(flags: 0x40_0104, exitCode: 143 & 0x7F))).isEndedBySignal)
        #expect(try !#require(ThreadState(threadState(flags: 0x40_0104, exitCode: 9 << 8))).isEndedBySignal)
        #expect(try !#require(ThreadState(threadState(flags: 0x40_0000, exitCode: 9))).isEndedBySignal)
        #expect(ThreadState("12 (cat) S 1 1") == nil)
        #expect(!Caller(threadID: getpid()).wasKilled)
    }

    @Test func aFileOpenForWritingIsSeenAndOneOpenForReadingIsNot() throws {
        let file = "/proc/self/comm"
        var status = stat()
        #expect(unsafe stat(file, &status) == 0)
        let number = UInt64(status.st_ino)
        let reading = unsafe open(file, O_RDONLY)
        defer { close(reading) }
        #expect(!Caller(threadID: getpid()).holdsForWriting(fileNumber: number))
        let writing = unsafe open(file, O_WRONLY)
        defer { close(writing) }
        #expect(Caller(threadID: getpid()).holdsForWriting(fileNumber: number))
    }
}
