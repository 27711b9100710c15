/// Where something stands in a rules file; both count from 1, columns in characters.
struct RulesPosition: Sendable, Equatable, CustomStringConvertible {
    var line = 1
    var column = 1

    var description: String { "\(line):\(column)" }
}

/// Why a rules file is none: no request is answered under it.
struct RulesSyntaxError: Error, Equatable, CustomStringConvertible {
    /// The file as its user knows it.
    let file: String
    let position: RulesPosition
    /// What was expected there, and what stands there.
    let message: String

    var description: String { "\(file):\(position): \(message)" }
}
