import Testing

@testable import firemount

struct MountReportTests {
    private let busy = """
        {"paused":true,"transfers":[\
        {"id":3,"object":"a/b.mov","state":"paused","sent":1572864,"confirmed":0,"total":2097152,"begun":"x"},\
        {"id":4,"object":"log\\u001b[2J","state":"running","sent":512,"confirmed":0,"total":null,"begun":"x"}],\
        "moreTransfers":2,"unsaved":[\
        {"id":1,"object":"a/b.mov","state":"sealed","size":2097152,"message":null,"time":"x"},\
        {"id":2,"object":"c","state":"conflict","size":10,"message":"another client stored it","time":"x"}],\
        "moreUnsaved":0}
        """

    @Test func uploadsAreShownWithTheirProgress() throws {
        let report = try #require(MountReport(parsing: busy))
        #expect(report.summary == "4 uploads, 2 not stored yet, 1 failed, paused")
        #expect(
            report.lines(bars: true) == [
                "  3  [###############-----]  75 %  1.5 MiB of 2.0 MiB  paused  a/b.mov",
                "  4  512 B so far  log?[2J", "  … and 2 more uploads",
                "  -  conflict  10 B  c: another client stored it",
            ])
        #expect(report.lines(bars: false)[0] == "  3  75 %  1.5 MiB of 2.0 MiB  paused  a/b.mov")
    }

    @Test func aMountAtRestIsOneLine() throws {
        let report = try #require(
            MountReport(
                parsing: #"{"paused":false,"transfers":[],"moreTransfers":0,"unsaved":[],"moreUnsaved":0}"#))
        #expect(report.summary == "no uploads")
        #expect(report.lines(bars: true).isEmpty)
    }

    @Test func whatIsKeptIsCountedAndNothingElseMatters() throws {
        func report(kept: Int) throws -> MountReport {
            try #require(
                MountReport(
                    parsing: """
                        {"paused":false,"transfers":[],"moreTransfers":0,"unsaved":[],"moreUnsaved":0,"kept":\(kept)}
                        """))
        }
        #expect(try report(kept: 0).keptLine(recover: "r") == nil)
        #expect(try report(kept: 0).isWell)
        #expect(try report(kept: 1).keptLine(recover: "r") == "1 file that could not be stored is kept: r")
        #expect(try report(kept: 2).keptLine(recover: "r") == "2 files that could not be stored are kept: r")
        #expect(try !report(kept: 1).isWell)
    }

    @Test func whatIsNotUnderstoodIsNoReport() {
        #expect(MountReport(parsing: "{}") == nil)
        #expect(MountReport(parsing: "") == nil)
    }

    @Test(arguments: [(0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1 << 30, "1.0 GiB"), (5 << 40, "5.0 TiB")])
    func bytesAreWrittenForPeople(count: Int64, text: String) { #expect(ByteText.of(count) == text) }
}
