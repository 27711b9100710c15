import Locking

/// The faults that tests have asked for. Any thread may call it.
///
/// Rules count for every client; a retry test counts for requests that name it in `x-retry-test-id`, and its
/// instructions for one operation are used up one by one.
final class Faults: Sendable {
    struct Rule: Sendable {
        /// `*`, an operation, or what an operation's name starts with: `storage.objects.insert` means its steps too.
        let operation: String
        /// Only for this object; nil for any.
        let name: ObjectName?
        let instructions: [Instruction]
        /// How many matching requests pass first.
        var skip: Int
        /// How many requests it hits; negative for no end.
        var times: Int

        fileprivate func covers(_ operation: String, _ name: ObjectName?) -> Bool {
            (self.operation == "*" || operation == self.operation || operation.hasPrefix(self.operation + "."))
                && (self.name == nil || self.name == name)
        }
    }

    struct RetryTest: Sendable {
        var pending: [String: [[Instruction]]]
        /// The same as text, for `GET`.
        var texts: [String: [String]]
        var isCompleted: Bool { pending.values.allSatisfy(\.isEmpty) }
    }

    /// Which rule or retry test a fault comes from, to use it up when it strikes.
    enum Source: Sendable, Equatable {
        case rule(Int)
        case retryTest(id: String, method: String)
    }

    private struct State {
        var rules: [Int: Rule] = [:]
        var retryTests: [String: RetryTest] = [:]
        var nextRule = 0
    }

    private let state = Lock(State())

    func add(_ rule: Rule) {
        state.withLock { state in
            state.rules[state.nextRule] = rule
            state.nextRule += 1
        }
    }

    func removeRules() { state.withLock { $0.rules = [:] } }

    /// What may strike this request, the oldest rule first.
    func armed(
        _ operation: String, _ name: ObjectName?, retryTest: String?
    ) -> [(source: Source, instructions: [Instruction])] {
        state.withLock { state in
            // The usual case, on every request's path.
            if state.rules.isEmpty, retryTest == nil { return [] }
            var armed: [(Source, [Instruction])] = state.rules.filter { $0.value.covers(operation, name) }
                .sorted { $0.key < $1.key }.map { (.rule($0.key), $0.value.instructions) }
            if let id = retryTest, let test = state.retryTests[id] {
                let method = Self.testbenchMethod(operation)
                if let next = test.pending[method]?.first { armed.append((.retryTest(id: id, method: method), next)) }
            }
            return armed
        }
    }

    /// Uses a fault up.
    /// - Returns: whether it strikes; not while its rule skips, nor when another request was quicker.
    func strike(_ source: Source) -> Bool {
        state.withLock { state in
            switch source {
            case .rule(let id):
                guard var rule = state.rules[id] else { return false }
                if rule.skip > 0 {
                    rule.skip -= 1
                    state.rules[id] = rule
                    return false
                }
                rule.times -= 1
                state.rules[id] = rule.times == 0 ? nil : rule
                return true
            case .retryTest(let id, let method):
                guard state.retryTests[id]?.pending[method]?.isEmpty == false else { return false }
                state.retryTests[id]?.pending[method]?.removeFirst()
                state.retryTests[id]?.texts[method]?.removeFirst()
                return true
            }
        }
    }

    /// - Parameter instructions: by operation, as the testbench spells it.
    func addRetryTest(_ instructions: [String: [String]]) throws(APIError) -> String {
        var pending: [String: [[Instruction]]] = [:]
        for (method, texts) in instructions {
            pending[method] = try texts.map { (text) throws(APIError) in try Instruction.list(text) }
        }
        let id = randomID()
        let test = RetryTest(pending: pending, texts: instructions)
        state.withLock { $0.retryTests[id] = test }
        return id
    }

    /// - Throws: 404 when there is none.
    func retryTest(_ id: String) throws(APIError) -> RetryTest {
        guard let test = state.withLock({ $0.retryTests[id] }) else { throw .notFound("Retry Test \(id)") }
        return test
    }

    func removeRetryTest(_ id: String) throws(APIError) {
        guard state.withLock({ $0.retryTests.removeValue(forKey: id) }) != nil else {
            throw .notFound("Retry Test \(id)")
        }
    }

    /// The testbench knows media as `get`, and the steps of an upload as `insert`.
    private static func testbenchMethod(_ operation: String) -> String {
        if operation == "storage.objects.media" { return "storage.objects.get" }
        return operation.hasPrefix("storage.objects.insert") ? "storage.objects.insert" : operation
    }
}
