import Locking

/// The Security Rules in force. Any thread may call it.
///
/// Without a file everybody may do everything. A file that does not parse, or is gone, refuses everything until it is
/// mended: rules that are wrong must not open a bucket.
final class SecurityRules: Sendable {
    private enum Force {
        case open
        case rules(Ruleset)
        case refusal(reason: String)
    }

    private struct State {
        var force = Force.open
        /// The file's state that was read last, also if it was not there.
        var stamp: RulesFile.Stamp?
    }

    private let file: RulesFile?
    private let log: @Sendable (String) -> Void
    private let state = Lock(State())

    /// - Parameters:
    ///   - path: a file of rules; it is read again whenever it has changed.
    ///   - log: gets a line for each reading of the file and for each `debug()`.
    /// - Throws: when there is no such file. One that does not parse is no error here.
    init(path: String?, log: @escaping @Sendable (String) -> Void) throws(ServerError) {
        file = path.map { RulesFile(path: $0) }
        self.log = log
        guard let file else { return }
        guard let stamp = file.stamp() else { throw ServerError("cannot read the rules \(file.path)") }
        reload(file, stamp)
    }

    /// Nothing is ruled: nobody need be asked.
    var isOpen: Bool { state.withLock { if case .open = $0.force { true } else { false } } }

    /// What the rules say to a request.
    func verdict(on request: RulesRequest) -> RulesVerdict {
        refresh()
        switch state.withLock({ $0.force }) {
        case .open: return .allow
        case .refusal(let reason): return .deny(reason: reason)
        case .rules(let ruleset):
            let (verdict, debugLines) = ruleset.consider(request)
            for line in debugLines { log("debug: \(line)") }
            return verdict
        }
    }

    /// Puts other rules in force, until the file changes.
    /// - Throws: when `source` does not parse; the old rules stay then.
    func replace(with source: String, name: String) throws(RulesSyntaxError) {
        let ruleset = try RulesParser.parse(source, file: name)
        state.withLock { $0.force = .rules(ruleset) }
        log("rules: \(name) is in force")
    }

    private func refresh() {
        guard let file else { return }
        let stamp = file.stamp()
        guard state.withLock({ $0.stamp }) != stamp else { return }
        reload(file, stamp)
    }

    private func reload(_ file: RulesFile, _ stamp: RulesFile.Stamp?) {
        guard let (text, stamp) = file.read() else {
            return put(.refusal(reason: "cannot read the rules \(file.name)"), stamp, "rules: cannot read \(file.path)")
        }
        do throws(RulesSyntaxError) {
            let ruleset = try RulesParser.parse(text, file: file.name)
            put(.rules(ruleset), stamp, "rules: \(file.path) is in force")
        } catch {
            put(
                .refusal(reason: "\(error)"), stamp,
                "rules: \(error); every Firebase request is refused until the file is mended")
        }
    }

    private func put(_ force: Force, _ stamp: RulesFile.Stamp?, _ line: String) {
        state.withLock { state in
            state.force = force
            state.stamp = stamp
        }
        log(line)
    }
}
