import Glibc

/// The prefixes of global functions.
enum RulesNamespace: String {
    case math, timestamp, duration, latlng, hashing, firestore
}

/// Global functions: conversions, `debug()`, and those of the namespaces.
extension RulesEvaluator {
    mutating func callBuiltIn(_ call: RulesCall) throws(RulesEvaluationError) -> RulesValue {
        switch call.name {
        case "int", "float", "string", "bool", "path", "debug": try call.takes(1)
        case "get", "exists", "getAfter", "existsAfter": throw call.error(Self.noFirestore)
        default: throw call.unknown
        }
        switch (call.name, call.arguments[0]) {
        case ("debug", let value):
            note("\(call.position): \(value.debugText)")
            return value
        case ("int", .integer), ("float", .float), ("string", .string), ("bool", .bool), ("path", .path):
            return call.arguments[0]
        case ("int", .float(let value)): return .integer(try integer(value.rounded(.towardZero), call))
        case ("int", .string(let text)):
            guard let value = Int64(text) else { throw call.error("finds no int in the string") }
            return .integer(value)
        case ("float", .integer(let value)): return .float(Double(value))
        case ("float", .string(let text)):
            guard let value = Double(text) else { throw call.error("finds no float in the string") }
            return .float(value)
        case ("bool", .string("true")): return .bool(true)
        case ("bool", .string("false")): return .bool(false)
        case ("string", .bool(let value)): return .string(String(value))
        case ("string", .integer(let value)): return .string(String(value))
        case ("string", .float(let value)): return .string(String(value))
        case ("string", .null): return .string("null")
        case ("path", .string(let text)):
            // Scalar by scalar: to a `String`, a slash before a combining mark is another letter.
            let scalars = text.unicodeScalars.first == "/" ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
            let parts = scalars.split(separator: "/", omittingEmptySubsequences: false)
            return .path(RulesPath(parts.map { String(String.UnicodeScalarView($0)) }))
        default: throw call.error("does not take \(call.arguments[0].typeName)")
        }
    }

    mutating func call(
        _ call: RulesCall, in namespace: RulesNamespace
    ) throws(RulesEvaluationError) -> RulesValue {
        switch namespace {
        case .math: try callMath(call)
        case .timestamp: try callTimestamp(call)
        case .duration: try callDuration(call)
        case .latlng: try callLatLng(call)
        case .hashing: try callHashing(call)
        case .firestore: throw call.error(Self.noFirestore)
        }
    }

    private static let noFirestore = "needs Cloud Firestore, which this server does not have"

    private func callMath(_ call: RulesCall) throws(RulesEvaluationError) -> RulesValue {
        let name = call.name.dropFirst("math.".count)
        guard ["abs", "ceil", "floor", "round", "isInfinite", "isNaN", "sqrt", "pow"].contains(name) else {
            throw call.unknown
        }
        try call.takes(name == "pow" ? 2 : 1)
        let value = try call.number()
        switch name {
        case "abs":
            guard case .integer(let integer) = call.arguments[0] else { return .float(value.magnitude) }
            guard integer != .min else { throw call.error("overflows") }
            return .integer(integer < 0 ? -integer : integer)
        case "ceil", "floor", "round":
            if case .integer = call.arguments[0] { return call.arguments[0] }
            let rule: FloatingPointRoundingRule =
                name == "ceil" ? .up : name == "floor" ? .down : .toNearestOrAwayFromZero
            return .integer(try integer(value.rounded(rule), call))
        case "isInfinite": return .bool(value.isInfinite)
        case "isNaN": return .bool(value.isNaN)
        case "sqrt": return .float(value.squareRoot())
        default: return .float(pow(value, try call.number(1)))
        }
    }

    private func integer(_ value: Double, _ call: RulesCall) throws(RulesEvaluationError) -> Int64 {
        guard let integer = Int64(exactly: value) else { throw call.error("finds no int in \(value)") }
        return integer
    }

    private func callTimestamp(_ call: RulesCall) throws(RulesEvaluationError) -> RulesValue {
        let time: RulesTime?
        switch call.name {
        case "timestamp.date":
            try call.takes(3)
            time = RulesTime(year: try call.integer(0), month: try call.integer(1), day: try call.integer(2))
        case "timestamp.value":
            try call.takes(1)
            time = RulesTime(nanoseconds: Int128(try call.integer()) * 1_000_000)
        default: throw call.unknown
        }
        guard let time else { throw call.error("names no time of the years 1 to 9999") }
        return .time(time)
    }

    private func callDuration(_ call: RulesCall) throws(RulesEvaluationError) -> RulesValue {
        let span: RulesDuration?
        switch call.name {
        case "duration.abs":
            try call.takes(1)
            span = try call.duration().magnitude
        case "duration.time":
            try call.takes(4)
            let seconds = Int128(try call.integer(0)) * 3_600 + Int128(try call.integer(1)) * 60
            let whole = (seconds + Int128(try call.integer(2))) * RulesTime.second
            span = RulesDuration(nanoseconds: whole + Int128(try call.integer(3)))
        case "duration.value":
            try call.takes(2)
            span = RulesDuration(try call.integer(0), unit: try call.string(1))
        default: throw call.unknown
        }
        guard let span else { throw call.error("needs a unit of w, d, h, m, s, ms, ns and 10,000 years at most") }
        return .duration(span)
    }

    private func callLatLng(_ call: RulesCall) throws(RulesEvaluationError) -> RulesValue {
        guard call.name == "latlng.value" else { throw call.unknown }
        try call.takes(2)
        let (latitude, longitude) = (try call.number(0), try call.number(1))
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else {
            throw call.error("needs a latitude of -90 to 90 and a longitude of -180 to 180")
        }
        return .latlng(latitude: latitude, longitude: longitude)
    }

    private mutating func callHashing(_ call: RulesCall) throws(RulesEvaluationError) -> RulesValue {
        guard let algorithm = RulesHash(rawValue: String(call.name.dropFirst("hashing.".count))) else {
            throw call.unknown
        }
        try call.takes(1)
        let bytes = try call.bytes()
        try spend(bytes.count / 4, at: call.position)
        return .bytes(algorithm.digest(of: bytes))
    }
}
