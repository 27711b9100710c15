/// A value that Security Rules compute with, as a request brings it along.
indirect enum RulesValue: Sendable, Equatable {
    case null
    /// Not known yet, as the hash of an upload that has only begun. Computing with it is an error of its own kind.
    case unknown
    case bool(Bool)
    case integer(Int64)
    case float(Double)
    case string(String)
    case timestamp(Microseconds)
    case list([RulesValue])
    case map([String: RulesValue])
}
