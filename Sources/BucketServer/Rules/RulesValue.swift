/// A value that Security Rules compute with, as a request brings it along.
indirect enum RulesValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case float(Double)
    case string(String)
    case timestamp(Microseconds)
    case list([RulesValue])
    case map([String: RulesValue])
}
