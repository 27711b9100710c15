/// A value that Security Rules compute with.
///
/// `==` of Swift is for tests; rules compare with `RulesEvaluator.equal`, whose work is bounded and whose numbers meet
/// across types.
indirect enum RulesValue: Sendable, Equatable {
    case null
    /// Not to be known yet, as the hash of an upload that has only begun. Computing with it is an open question.
    case unknown
    case bool(Bool)
    case integer(Int64)
    case float(Double)
    case string(String)
    case bytes([UInt8])
    case time(RulesTime)
    case duration(RulesDuration)
    case list([RulesValue])
    /// Without two equal elements, in the order they came.
    case set([RulesValue])
    case map([String: RulesValue])
    case mapDiff(RulesMapDiff)
    case path(RulesPath)
    case latlng(latitude: Double, longitude: Double)

    static func timestamp(_ time: Microseconds) -> RulesValue { .time(RulesTime(time)) }

    /// The name that `is` knows the type by.
    var typeName: String {
        switch self {
        case .null: "null"
        case .unknown: "unknown"
        case .bool: "bool"
        case .integer: "int"
        case .float: "float"
        case .string: "string"
        case .bytes: "bytes"
        case .time: "timestamp"
        case .duration: "duration"
        case .list: "list"
        case .set: "set"
        case .map: "map"
        case .mapDiff: "map_diff"
        case .path: "path"
        case .latlng: "latlng"
        }
    }
}

/// What `map.diff(other)` found.
struct RulesMapDiff: Sendable, Equatable {
    var added: [String] = []
    var removed: [String] = []
    var changed: [String] = []
    var unchanged: [String] = []
}

/// A location: its parts between slashes. A part that `$(name)` left open has a name and no text.
struct RulesPath: Sendable, Equatable {
    struct Segment: Sendable, Equatable {
        var text: String?
        /// What the part can be asked for by.
        var name: String?
    }

    var segments: [Segment]

    init(segments: [Segment]) { self.segments = segments }

    init(_ texts: some Sequence<String>) { segments = texts.map { Segment(text: $0) } }

    /// `/a/b`, as it is written in rules.
    var description: String {
        segments.map { "/" + ($0.text ?? "$(\($0.name ?? ""))") }.joined()
    }
}
