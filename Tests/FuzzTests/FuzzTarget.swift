/// What is fed with bytes that nobody has vouched for. Each must neither crash nor break its own rules, whatever they
/// are; that it refuses most of them is no failure.
enum FuzzTarget: String, CaseIterable {
    /// Dialogues with a server: every call of both stores.
    case answers
    /// JSON: list pages, objects, rewrites, errors.
    case documents
    /// Heads: ranges, checksums, upload statuses, refusals.
    case heads
    /// Credentials' files, and services' answers about tokens.
    case credentials
    /// A journal's files after a crash, or after somebody wrote into them.
    case journal
    /// Rows and lists of fields in a journal that SQLite can read.
    case rows
    /// At the local server: bodies in parts.
    case multipart
    /// At the local server: Security Rules.
    case rules
    /// At the local server: regular expressions in Security Rules.
    case patterns

    /// Whether the input was taken for good.
    @discardableResult
    func run(_ input: [UInt8]) -> Bool {
        switch self {
        case .answers: AnswersTarget.run(input)
        case .documents: DocumentsTarget.run(input)
        case .heads: HeadsTarget.run(input)
        case .credentials: CredentialsTarget.run(input)
        case .journal: JournalTarget.run(input)
        case .rows: RowsTarget.run(input)
        case .multipart: MultipartTarget.run(input)
        case .rules: RulesTarget.run(input)
        case .patterns: PatternsTarget.run(input)
        }
    }
}
