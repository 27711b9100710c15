/// An instant, in nanoseconds since the epoch, UTC. The years 1 to 9999.
struct RulesTime: Sendable, Equatable, Comparable {
    let nanoseconds: Int128

    static let second: Int128 = 1_000_000_000
    private static let secondsPerDay: Int128 = 86_400
    // 0001-01-01T00:00:00Z and the last nanosecond of 9999, what the service's timestamps can hold.
    private static let earliest = -62_135_596_800 * second
    private static let latest = 253_402_300_800 * second - 1

    init(_ time: Microseconds) { nanoseconds = Int128(time) * 1_000 }

    /// Nil out of the years 1 to 9999.
    init?(nanoseconds: Int128) {
        guard (Self.earliest...Self.latest).contains(nanoseconds) else { return nil }
        self.nanoseconds = nanoseconds
    }

    /// Midnight of a day; nil if there is no such day.
    init?(year: Int64, month: Int64, day: Int64) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.days(of: month, in: year)
        else { return nil }
        let days = Self.daysBefore(year: year) + Self.daysBefore(month: month, in: year) + day - 1
        self.init(nanoseconds: Int128(days - Self.daysBefore(year: 1970)) * Self.secondsPerDay * Self.second)
    }

    static func < (left: RulesTime, right: RulesTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Whole days since 0001-01-01, a Monday.
    private var dayNumber: Int64 {
        Int64((nanoseconds - Self.earliest) / (Self.secondsPerDay * Self.second))
    }

    private var nanosecondOfDay: Int128 { (nanoseconds - Self.earliest) % (Self.secondsPerDay * Self.second) }

    var startOfDay: RulesTime { RulesTime(unchecked: nanoseconds - nanosecondOfDay) }

    var timeOfDay: RulesDuration { RulesDuration(unchecked: nanosecondOfDay) }

    var milliseconds: Int64 {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return Int64(remainder < 0 ? quotient - 1 : quotient)
    }

    var hours: Int64 { Int64(nanosecondOfDay / Self.second / 3_600) }
    var minutes: Int64 { Int64(nanosecondOfDay / Self.second / 60 % 60) }
    var seconds: Int64 { Int64(nanosecondOfDay / Self.second % 60) }
    var nanos: Int64 { Int64(nanosecondOfDay % Self.second) }

    /// 1 is Monday, 7 is Sunday.
    var dayOfWeek: Int64 { dayNumber % 7 + 1 }

    var year: Int64 {
        // 366 days a year at most: never above the year meant, and short of it by a few at the end of the calendar.
        var year = dayNumber / 366 + 1
        while Self.daysBefore(year: year + 1) <= dayNumber { year += 1 }
        return year
    }

    var dayOfYear: Int64 { dayNumber - Self.daysBefore(year: year) + 1 }

    var month: Int64 {
        let (year, day) = (year, dayOfYear)
        var month: Int64 = 12
        while Self.daysBefore(month: month, in: year) >= day { month -= 1 }
        return month
    }

    var day: Int64 { dayOfYear - Self.daysBefore(month: month, in: year) }

    private init(unchecked nanoseconds: Int128) { self.nanoseconds = nanoseconds }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// Days from the first of the year 1 to the first of `year`.
    private static func daysBefore(year: Int64) -> Int64 {
        let past = year - 1
        return past * 365 + past / 4 - past / 100 + past / 400
    }

    private static func days(of month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func daysBefore(month: Int64, in year: Int64) -> Int64 {
        (1..<month).reduce(0) { $0 + days(of: $1, in: year) }
    }
}

/// A span of time in nanoseconds, at most 315,576,000,000 seconds either way.
struct RulesDuration: Sendable, Equatable, Comparable {
    let nanoseconds: Int128

    private static let longest = 315_576_000_000 * RulesTime.second

    init?(nanoseconds: Int128) {
        guard (-Self.longest...Self.longest).contains(nanoseconds) else { return nil }
        self.nanoseconds = nanoseconds
    }

    /// Nil for a unit that is none, or out of range.
    init?(_ magnitude: Int64, unit: String) {
        let factor: Int128
        switch unit {
        case "w": factor = 604_800 * RulesTime.second
        case "d": factor = 86_400 * RulesTime.second
        case "h": factor = 3_600 * RulesTime.second
        case "m": factor = 60 * RulesTime.second
        case "s": factor = RulesTime.second
        case "ms": factor = 1_000_000
        case "ns": factor = 1
        default: return nil
        }
        self.init(nanoseconds: Int128(magnitude) * factor)
    }

    init(unchecked nanoseconds: Int128) { self.nanoseconds = nanoseconds }

    static func < (left: RulesDuration, right: RulesDuration) -> Bool { left.nanoseconds < right.nanoseconds }

    var seconds: Int64 { Int64(nanoseconds / RulesTime.second) }
    /// The part below a second, with the sign of the whole.
    var nanos: Int64 { Int64(nanoseconds % RulesTime.second) }
    var magnitude: RulesDuration { RulesDuration(unchecked: nanoseconds < 0 ? -nanoseconds : nanoseconds) }
}
