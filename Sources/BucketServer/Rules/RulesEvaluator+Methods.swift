import Glibc

/// Methods of values.
extension RulesEvaluator {
    mutating func call(_ call: RulesCall, on receiver: RulesValue) throws(RulesEvaluationError) -> RulesValue {
        switch receiver {
        case .string(let text): try callString(call, text)
        case .bytes(let bytes): try callBytes(call, bytes)
        case .list(let items): try callList(call, items)
        case .set(let items): try callSet(call, items)
        case .map(let entries): try callMap(call, entries)
        case .mapDiff(let diff): try callMapDiff(call, diff)
        case .time(let time): try callTime(call, time)
        case .duration(let span): try callSpan(call, span)
        case .path(let path): try callPath(call, path)
        case .latlng(let latitude, let longitude): try callLatLng(call, latitude, longitude)
        case .null, .unknown, .bool, .integer, .float: throw noMethod(call, receiver)
        }
    }

    private func noMethod(_ call: RulesCall, _ receiver: RulesValue) -> RulesEvaluationError {
        error("\(receiver.typeName) has no method \(call.name)()", call.position)
    }

    // MARK: Strings and bytes

    private mutating func callString(_ call: RulesCall, _ text: String) throws(RulesEvaluationError) -> RulesValue {
        try spend(text.utf8.count / 16, at: call.position)
        switch call.name {
        case "lower", "upper", "trim", "size", "toUtf8": try call.takes(0)
        case "matches", "split": try call.takes(1)
        case "replace": try call.takes(2)
        default: throw noMethod(call, .string(text))
        }
        switch call.name {
        case "lower": return try self.text(text.lowercased(), at: call.position)
        case "upper": return try self.text(text.uppercased(), at: call.position)
        case "trim": return .string(trimmed(text))
        case "size": return .integer(Int64(text.unicodeScalars.count))
        case "toUtf8": return .bytes(Array(text.utf8))
        case "matches":
            let pattern = try pattern(try call.string(), at: call.position)
            return .bool(
                try match(call) { (work) throws(PatternError) in
                    try pattern.matchesWhole(Array(text.unicodeScalars), work: &work)
                })
        case "split": return .list(try split(text, call))
        default: return try replace(text, call)
        }
    }

    private func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let head = scalars.drop { $0.properties.isWhitespace }
        guard let last = head.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
        return String(String.UnicodeScalarView(head[...last]))
    }

    private mutating func match<Result>(
        _ call: RulesCall, _ body: (inout Int) throws(PatternError) -> Result
    ) throws(RulesEvaluationError) -> Result {
        do {
            return try body(&work)
        } catch {
            throw call.error(error.message)
        }
    }

    private mutating func split(_ text: String, _ call: RulesCall) throws(RulesEvaluationError) -> [RulesValue] {
        let scalars = Array(text.unicodeScalars)
        // An empty match at either end parts nothing.
        let matches = try matches(in: scalars, call).filter {
            !$0.isEmpty || ($0.lowerBound > 0 && $0.lowerBound < scalars.count)
        }
        let starts = [0] + matches.map(\.upperBound)
        let ends = matches.map(\.lowerBound) + [scalars.count]
        return try elements(
            zip(starts, ends).map { .string(String(String.UnicodeScalarView(scalars[$0..<$1]))) }, at: call.position)
    }

    private mutating func replace(_ text: String, _ call: RulesCall) throws(RulesEvaluationError) -> RulesValue {
        let scalars = Array(text.unicodeScalars)
        let replacement = try call.string(1)
        var result = ""
        var copied = 0
        for match in try matches(in: scalars, call) {
            result.unicodeScalars.append(contentsOf: scalars[copied..<match.lowerBound])
            result += replacement
            copied = match.upperBound
            guard result.utf8.count <= Limit.stringBytes else { break }
        }
        result.unicodeScalars.append(contentsOf: scalars[copied...])
        return try self.text(result, at: call.position)
    }

    /// Where the pattern of the first argument matches, one behind the other; not empty right behind another match.
    private mutating func matches(
        in scalars: [Unicode.Scalar], _ call: RulesCall
    ) throws(RulesEvaluationError) -> [Range<Int>] {
        let pattern = try pattern(try call.string(), at: call.position)
        return try match(call) { (work) throws(PatternError) in
            var found: [Range<Int>] = []
            var start = 0
            while start <= scalars.count, let next = try pattern.firstMatch(in: scalars, from: start, work: &work) {
                if !next.isEmpty || found.last?.upperBound != next.lowerBound { found.append(next) }
                start = next.isEmpty ? next.upperBound + 1 : next.upperBound
            }
            return found
        }
    }

    private func callBytes(_ call: RulesCall, _ bytes: [UInt8]) throws(RulesEvaluationError) -> RulesValue {
        switch call.name {
        case "size", "toBase64", "toHexString": try call.takes(0)
        default: throw noMethod(call, .bytes(bytes))
        }
        switch call.name {
        case "size": return .integer(Int64(bytes.count))
        case "toBase64": return .string(String(decoding: base64(bytes), as: UTF8.self))
        default:
            return .string(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined())
        }
    }

    // MARK: Times

    private func callTime(_ call: RulesCall, _ time: RulesTime) throws(RulesEvaluationError) -> RulesValue {
        try call.takes(0)
        switch call.name {
        case "date": return .time(time.startOfDay)
        case "time": return .duration(time.timeOfDay)
        case "toMillis": return .integer(time.milliseconds)
        case "year": return .integer(time.year)
        case "month": return .integer(time.month)
        case "day": return .integer(time.day)
        case "dayOfWeek": return .integer(time.dayOfWeek)
        case "dayOfYear": return .integer(time.dayOfYear)
        case "hours": return .integer(time.hours)
        case "minutes": return .integer(time.minutes)
        case "seconds": return .integer(time.seconds)
        case "nanos": return .integer(time.nanos)
        default: throw noMethod(call, .time(time))
        }
    }

    private func callSpan(_ call: RulesCall, _ span: RulesDuration) throws(RulesEvaluationError) -> RulesValue {
        try call.takes(0)
        switch call.name {
        case "seconds": return .integer(span.seconds)
        case "nanos": return .integer(span.nanos)
        default: throw noMethod(call, .duration(span))
        }
    }

    // MARK: Places

    private func callPath(_ call: RulesCall, _ path: RulesPath) throws(RulesEvaluationError) -> RulesValue {
        guard call.name == "bind" else { throw noMethod(call, .path(path)) }
        try call.takes(1)
        let values = try call.map()
        var bound = path
        for (index, segment) in path.segments.enumerated() where segment.text == nil {
            guard let name = segment.name, let value = values[name] else { continue }
            guard case .string(let text) = value else { throw call.error("expects strings, not \(value.typeName)") }
            bound.segments[index].text = text
        }
        return .path(bound)
    }

    private func callLatLng(
        _ call: RulesCall, _ latitude: Double, _ longitude: Double
    ) throws(RulesEvaluationError) -> RulesValue {
        switch call.name {
        case "latitude":
            try call.takes(0)
            return .float(latitude)
        case "longitude":
            try call.takes(0)
            return .float(longitude)
        case "distance":
            try call.takes(1)
            guard case .latlng(let otherLatitude, let otherLongitude) = call.arguments[0] else {
                throw call.wrongType(0, "a latlng")
            }
            // The haversine formula on a sphere of the Earth's mean radius in metres.
            let radians = Double.pi / 180
            let across = sin((otherLongitude - longitude) * radians / 2)
            let along = sin((otherLatitude - latitude) * radians / 2)
            let shrink = cos(latitude * radians) * cos(otherLatitude * radians)
            return .float(2 * 6_371_010 * asin(min(1, (along * along + shrink * across * across).squareRoot())))
        default: throw noMethod(call, .latlng(latitude: latitude, longitude: longitude))
        }
    }
}
