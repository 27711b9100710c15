import ObjectStore
import TestSupport
import Testing

struct TimestampTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0, 0), ("2026-01-01T00:00:00.123Z", 1_767_225_600, 123_000_000),
            ("2026-01-01T00:00:00.123456789Z", 1_767_225_600, 123_456_789),
            ("2026-01-01T02:30:00+02:30", 1_767_225_600, 0),
            ("2025-12-31T23:59:59.999999999-00:00", 1_767_225_599, 999_999_999),
            ("2024-02-29T12:00:00Z", 1_709_208_000, 0), ("2000-02-29T00:00:00Z", 951_782_400, 0),
            ("1969-12-31T23:59:59.5Z", -1, 500_000_000), ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
            ("9999-12-31T23:59:59Z", 253_402_300_799, 0), ("2016-12-31T23:59:60Z", 1_483_228_800, 0),
        ] as [(String, Int64, Int32)])
    func rfc3339IsRead(text: String, seconds: Int64, nanoseconds: Int32) {
        #expect(Timestamp(rfc3339: text) == Timestamp(seconds: seconds, nanoseconds: nanoseconds))
    }

    @Test(arguments: [
        "", "2026", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567890Z", "2026-01-01T00:00:00Zx",
        "2026-01-01T00:00:00+2:30", "2026-1-01T00:00:00Z", "-026-01-01T00:00:00Z", "2026-01-01T00:00:00é",
    ])
    func whatIsNoMomentIsRefused(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func decimalsAreTrimmedOrExactlyThree() {
        let moment = Timestamp(seconds: 1_767_225_600, nanoseconds: 120_000_000)
        #expect(moment.rfc3339() == "2026-01-01T00:00:00.12Z")
        #expect(moment.rfc3339(.milliseconds) == "2026-01-01T00:00:00.120Z")
        #expect(Timestamp(seconds: 0).rfc3339() == "1970-01-01T00:00:00Z")
        #expect(Timestamp(seconds: 0).rfc3339(.milliseconds) == "1970-01-01T00:00:00.000Z")
        #expect(Timestamp(seconds: -1, nanoseconds: 1).rfc3339() == "1969-12-31T23:59:59.000000001Z")
    }

    @Test func momentsBeyondFourDigitYearsAreClamped() {
        #expect(Timestamp(seconds: .max).rfc3339() == "9999-12-31T23:59:59Z")
        #expect(Timestamp(seconds: .min).rfc3339() == "0000-01-01T00:00:00Z")
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func whatIsWrittenIsReadBack(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            let moment = Timestamp(
                seconds: Int64.random(in: -62_167_219_200...253_402_300_799, using: &random),
                nanoseconds: Int32.random(in: 0..<1_000_000_000, using: &random))
            #expect(Timestamp(rfc3339: moment.rfc3339()) == moment)
            let cut = Timestamp(seconds: moment.seconds, nanoseconds: moment.nanoseconds / 1_000_000 * 1_000_000)
            #expect(Timestamp(rfc3339: moment.rfc3339(.milliseconds)) == cut)
        }
    }
}
