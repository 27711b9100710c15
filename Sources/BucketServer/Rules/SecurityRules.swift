/// The Security Rules in force. Any thread may call it.
final class SecurityRules: Sendable {
    func verdict(on request: RulesRequest) -> RulesVerdict { .allow }
}
