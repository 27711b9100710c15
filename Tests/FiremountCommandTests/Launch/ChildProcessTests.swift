import Glibc
import Testing

@testable import firemount

struct ChildProcessTests {
    @Test func statusAndErrorsOfAHelperAreTold() throws {
        let result = try ChildProcess.run(["sh", "-c", "echo one >&2; echo two >&2; exit 7"])
        #expect(result.status == 7)
        #expect(result.errors == "one; two")
    }

    @Test func aSignalIsNoSuccess() throws {
        #expect(try ChildProcess.run(["sh", "-c", "kill -9 $$"]).status == 128 + SIGKILL)
    }

    @Test func aProgramThatIsNotThereIsAnError() {
        #expect(throws: SystemError(code: ENOENT)) { try ChildProcess.run(["firemount-no-such-program"]) }
    }

    @Test func aTaskIsWaitedFor() throws {
        #expect(try wait(atMost: nil) { 7 } == 7)
        #expect(try wait(atMost: .milliseconds(10)) { try? await Task.sleep(for: .seconds(60)) } == nil)
    }
}
