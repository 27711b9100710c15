import Glibc

/// Wall-clock time as the index stores it: microseconds since the epoch, UTC.
typealias Microseconds = Int64

func currentTime() -> Microseconds {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000
}

/// RFC 3339 in UTC with exactly three decimals, as the API prints every time.
func rfc3339(_ time: Microseconds) -> [UInt8] {
    var seconds = time_t(time / 1_000_000)
    var parts = unsafe tm()
    unsafe gmtime_r(&seconds, &parts)
    var text: [UInt8] = []
    text.reserveCapacity(24)
    unsafe append(Int(parts.tm_year) + 1900, digits: 4, to: &text)
    for (separator, value) in unsafe [
        (UInt8(ascii: "-"), parts.tm_mon + 1), (UInt8(ascii: "-"), parts.tm_mday), (UInt8(ascii: "T"), parts.tm_hour),
        (UInt8(ascii: ":"), parts.tm_min), (UInt8(ascii: ":"), parts.tm_sec),
    ] {
        text.append(separator)
        append(Int(value), digits: 2, to: &text)
    }
    text.append(UInt8(ascii: "."))
    append(Int(time % 1_000_000) / 1_000, digits: 3, to: &text)
    text.append(UInt8(ascii: "Z"))
    return text
}

/// The form of HTTP's date headers, e.g. `Thu, 01 Jan 2026 00:00:00 GMT`.
func httpDate(_ time: Microseconds) -> String {
    var seconds = time_t(time / 1_000_000)
    var parts = unsafe tm()
    unsafe gmtime_r(&seconds, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let day =
        unsafe "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
    return unsafe "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
}

private func append(_ value: Int, digits: Int, to text: inout [UInt8]) {
    var divisor = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
        text.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
        divisor /= 10
    }
}
