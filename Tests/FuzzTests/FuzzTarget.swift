/// What is fed with bytes that nobody has vouched for. Each must neither crash nor break its own rules, whatever they
/// are; that it refuses most of them is no failure.
enum FuzzTarget: String, CaseIterable {
    /// What a server answers: heads, JSON, ranges, upload statuses.
    case answers
    /// What a journal's database holds after a crash, or after somebody wrote into it.
    case journal

    /// Whether the input was taken for good.
    @discardableResult
    func run(_ input: [UInt8]) -> Bool {
        switch self {
        case .answers: AnswersTarget.run(input)
        case .journal: JournalTarget.run(input)
        }
    }
}
