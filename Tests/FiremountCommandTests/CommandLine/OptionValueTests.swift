import Logging
import Testing

@testable import firemount

struct OptionValueTests {
    @Test(arguments: [
        ("0", Duration.zero), ("0s", .zero), ("500ms", .milliseconds(500)), ("2s", .seconds(2)), ("5m", .seconds(300)),
        ("1h", .seconds(3_600)), ("876000h", .seconds(3_153_600_000)),
    ])
    func durationsAreANumberAndAUnit(spelling: String, duration: Duration) {
        #expect(Duration(spelling: spelling) == duration)
    }

    @Test(arguments: [
        "", "2", "s", "-1s", "+1s", "2 s", "2S", "1.5s", "1h30m", "2sec", "99999999999999999999s", "9999999999999999h",
        "٣s",
    ])
    func otherDurationsAreRefused(spelling: String) {
        #expect(Duration(spelling: spelling) == nil)
    }

    @Test(arguments: [
        ("0", Int64(0)), ("17", 17), ("17b", 17), ("512K", 524_288), ("1k", 1_024), ("64MiB", 67_108_864),
        ("64mib", 67_108_864), ("64M", 67_108_864), ("1MB", 1_000_000), ("1GB", 1_000_000_000),
        ("2GiB", 2_147_483_648), ("1T", 1_099_511_627_776),
    ])
    func sizesAreANumberAndPerhapsAUnit(spelling: String, bytes: Int64) {
        #expect(ByteCount(spelling: spelling)?.bytes == bytes)
    }

    @Test(arguments: ["", "M", "-1", "1.5G", "64 MiB", "64MiBs", "1PB", "9223372036854775807K", "0x10"])
    func otherSizesAreRefused(spelling: String) {
        #expect(ByteCount(spelling: spelling) == nil)
    }

    @Test(arguments: [("0644", UInt16(0o644)), ("644", 0o644), ("0", 0), ("00750", 0o750), ("777", 0o777)])
    func modesAreOctal(spelling: String, bits: UInt16) {
        #expect(Permissions(spelling: spelling)?.bits == bits)
    }

    @Test(arguments: ["", "888", "0o644", "1777", "rw", "-644", "+644", "u+x"])
    func otherModesAreRefused(spelling: String) {
        #expect(Permissions(spelling: spelling) == nil)
    }

    @Test(arguments: ["", "-1", "root", "4294967295", "4294967296", "+0"])
    func ownersThatTheKernelCannotHoldAreRefused(spelling: String) {
        #expect(OwnerNumber(spelling: spelling) == nil)
    }

    @Test(arguments: LogLevel.allCases)
    func everyLogLevelHasItsName(level: LogLevel) {
        #expect(LogLevel(spelling: level.name) == level)
    }

    @Test func portsFitInSixteenBits() {
        #expect(Port(spelling: "65535")?.number == 65_535)
        #expect(Port(spelling: "65536") == nil)
        #expect(Port(spelling: "http") == nil)
    }
}
