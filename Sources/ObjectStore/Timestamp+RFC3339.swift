/// Moments as RFC 3339 text, the way buckets write them (PROTOCOL: object resource). Bytes and arithmetic only.
extension Timestamp {
    /// Reads `YYYY-MM-DDThh:mm:ss`, then up to nine decimals, then `Z` or `±hh:mm`; nil when it is anything else.
    /// A leap second (`:60`) counts as the second after it. Years 0000 to 9999.
    package init?(rfc3339 text: String) {
        var copy = text
        let moment = copy.withUTF8 { utf8 in unsafe Self(rfc3339: UnsafeRawBufferPointer(utf8)) }
        guard let moment else { return nil }
        self = moment
    }

    package init?(rfc3339 bytes: UnsafeRawBufferPointer) {
        var reader = unsafe DigitReader(bytes: bytes)
        guard let year = reader.number(digits: 4), reader.skip("-"),
            let month = reader.number(digits: 2), (1...12).contains(month), reader.skip("-"),
            let day = reader.number(digits: 2), (1...Self.days(inMonth: month, year: year)).contains(day),
            reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.number(digits: 2), hour < 24, reader.skip(":"),
            let minute = reader.number(digits: 2), minute < 60, reader.skip(":"),
            let second = reader.number(digits: 2), second <= 60
        else { return nil }
        var nanoseconds = 0
        if reader.skip(".") {
            guard let fraction = reader.fraction() else { return nil }
            nanoseconds = fraction
        }
        guard let offset = reader.offset(), reader.isAtEnd else { return nil }
        let clock = hour * 3_600 + minute * 60 + second - offset
        self.init(
            seconds: Self.days(from1970To: year, month, day) * 86_400 + Int64(clock), nanoseconds: Int32(nanoseconds))
    }

    package enum Decimals: Sendable {
        /// As many as it takes to say it exactly, 0 to 9.
        case asNeeded
        /// Exactly three; the rest is cut off.
        case milliseconds
    }

    /// `2026-01-01T00:00:00.123Z`, always in UTC. Years outside 0000 to 9999 are clamped to that range's ends.
    package func rfc3339(_ decimals: Decimals = .asNeeded) -> String {
        let clamped = min(max(seconds, Self.earliest), Self.latest)
        let day = clamped >= 0 ? clamped / 86_400 : -((86_399 - clamped) / 86_400)
        let clock = Int(clamped - day * 86_400)
        let (year, month, dayOfMonth) = Self.date(daysFrom1970: day)
        var text: [UInt8] = []
        text.reserveCapacity(30)
        text.append(number: year, digits: 4)
        text.append(UInt8(ascii: "-"))
        text.append(number: month, digits: 2)
        text.append(UInt8(ascii: "-"))
        text.append(number: dayOfMonth, digits: 2)
        text.append(UInt8(ascii: "T"))
        text.append(number: clock / 3_600, digits: 2)
        text.append(UInt8(ascii: ":"))
        text.append(number: clock / 60 % 60, digits: 2)
        text.append(UInt8(ascii: ":"))
        text.append(number: clock % 60, digits: 2)
        switch decimals {
        case .asNeeded where nanoseconds == 0: break
        case .asNeeded:
            text.append(UInt8(ascii: "."))
            text.append(number: Int(nanoseconds), digits: 9)
            while text.last == UInt8(ascii: "0") { text.removeLast() }
        case .milliseconds:
            text.append(UInt8(ascii: "."))
            text.append(number: Int(nanoseconds) / 1_000_000, digits: 3)
        }
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    /// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
    private static let earliest: Int64 = days(from1970To: 0, 1, 1) * 86_400
    private static let latest: Int64 = days(from1970To: 9_999, 12, 31) * 86_400 + 86_399

    private static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    private static func days(inMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the proleptic Gregorian calendar. Counting years from March puts the leap day last, so that the days
    /// before a month need no table.
    private static func days(from1970To year: Int, _ month: Int, _ day: Int) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Int64(era * 146_097 + dayOfEra - daysFromMarchOfYear0To1970)
    }

    private static func date(daysFrom1970 days: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = Int(days) + daysFromMarchOfYear0To1970
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static let daysFromMarchOfYear0To1970 = 719_468
}

/// Takes fixed-width numbers off the front of a text.
@safe
private struct DigitReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(bytes: UnsafeRawBufferPointer) { unsafe self.bytes = bytes }

    var isAtEnd: Bool { unsafe position == bytes.count }

    private func digit() -> Int? {
        guard unsafe position < bytes.count else { return nil }
        let digit = unsafe bytes[position] &- UInt8(ascii: "0")
        return digit < 10 ? Int(digit) : nil
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard unsafe position < bytes.count, unsafe bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func number(digits: Int) -> Int? {
        var sum = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            sum = sum * 10 + digit
            position += 1
        }
        return sum
    }

    /// One to nine decimals, as nanoseconds.
    mutating func fraction() -> Int? {
        var sum = 0
        var digits = 0
        while let digit = digit() {
            guard digits < 9 else { return nil }
            sum = sum * 10 + digit
            digits += 1
            position += 1
        }
        guard digits > 0 else { return nil }
        for _ in digits..<9 { sum *= 10 }
        return sum
    }

    /// `Z` or `±hh:mm`, as seconds east of UTC.
    mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let isWest = skip("-")
        guard isWest || skip("+"), let hours = number(digits: 2), hours < 24, skip(":"),
            let minutes = number(digits: 2), minutes < 60
        else { return nil }
        let seconds = hours * 3_600 + minutes * 60
        return isWest ? -seconds : seconds
    }
}

extension [UInt8] {
    fileprivate mutating func append(number: Int, digits: Int) {
        var divisor = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
