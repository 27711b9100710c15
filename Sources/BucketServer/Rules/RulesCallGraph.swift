/// Finds functions that call themselves, directly or through others: the service takes no such rules.
struct RulesCallGraph {
    private struct Scope {
        let parent: Int?
        /// Indices into `functions`.
        var functions: [String: Int] = [:]
    }

    private let file: String
    private var scopes: [Scope] = []
    private var functions: [(function: RulesFunction, scope: Int)] = []

    static func check(_ ruleset: Ruleset) throws(RulesSyntaxError) {
        var graph = RulesCallGraph(file: ruleset.file)
        graph.add(ruleset.functions, matches: ruleset.matches, parent: nil)
        try graph.check()
    }

    private init(file: String) { self.file = file }

    private mutating func add(_ declared: [String: RulesFunction], matches: [RulesMatch], parent: Int?) {
        let scope = scopes.count
        scopes.append(Scope(parent: parent))
        for (name, function) in declared {
            scopes[scope].functions[name] = functions.count
            functions.append((function, scope))
        }
        for match in matches { add(match.functions, matches: match.matches, parent: scope) }
    }

    /// Takes away functions that call nothing that is left, until none is: what stays calls itself.
    private func check() throws(RulesSyntaxError) {
        let callees = functions.map { calls(in: $0.function) }
        var callers = [[Int]](repeating: [], count: functions.count)
        var open = [Int](repeating: 0, count: functions.count)
        for (caller, names) in callees.enumerated() {
            for callee in Set(names.compactMap({ resolve($0, from: functions[caller].scope) })) {
                callers[callee].append(caller)
                open[caller] += 1
            }
        }
        var done = open.indices.filter { open[$0] == 0 }
        var remaining = functions.count - done.count
        while let callee = done.popLast() {
            for caller in callers[callee] {
                open[caller] -= 1
                if open[caller] == 0 {
                    done.append(caller)
                    remaining -= 1
                }
            }
        }
        guard remaining > 0 else { return }
        let stuck = open.indices.filter { open[$0] > 0 }.map { functions[$0].function }
        let first = stuck.min { ($0.position.line, $0.position.column) < ($1.position.line, $1.position.column) }
        guard let first else { return }
        throw RulesSyntaxError(
            file: file, position: first.position, message: "the function \(first.name) leads to a call of itself")
    }

    private func resolve(_ name: String, from scope: Int) -> Int? {
        var scope: Int? = scope
        while let current = scope {
            if let function = scopes[current].functions[name] { return function }
            scope = scopes[current].parent
        }
        return nil
    }

    private func calls(in function: RulesFunction) -> [String] {
        var names: [String] = []
        var rest = function.bindings.map(\.value) + [function.result]
        while let expression = rest.popLast() {
            if case .call(let name, _) = expression.kind { names.append(name) }
            rest += expression.kind.parts
        }
        return names
    }
}
