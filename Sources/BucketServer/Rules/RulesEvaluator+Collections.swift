/// Methods of lists, sets and maps.
extension RulesEvaluator {
    // MARK: Lists

    mutating func callList(_ call: RulesCall, _ items: [RulesValue]) throws(RulesEvaluationError) -> RulesValue {
        switch call.name {
        case "size", "toSet": try call.takes(0)
        case "concat", "hasAll", "hasAny", "hasOnly", "join", "removeAll": try call.takes(1)
        default: throw error("list has no method \(call.name)()", call.position)
        }
        switch call.name {
        case "size": return .integer(Int64(items.count))
        case "toSet": return .set(try unique(items, at: call.position))
        case "concat": return .list(try elements(items + (try call.list()), at: call.position))
        case "join": return try join(items, call)
        case "removeAll": return .list(try items.without(try call.listOrSet(), by: &self, at: call.position))
        default: return .bool(try compare(items, call))
        }
    }

    /// `hasAll`, `hasAny`, `hasOnly` of lists and sets.
    private mutating func compare(_ items: [RulesValue], _ call: RulesCall) throws(RulesEvaluationError) -> Bool {
        let others = try call.listOrSet()
        switch call.name {
        case "hasAll": return try others.without(items, by: &self, at: call.position).isEmpty
        case "hasOnly": return try items.without(others, by: &self, at: call.position).isEmpty
        default: return try items.without(others, by: &self, at: call.position).count < items.count
        }
    }

    private mutating func join(_ items: [RulesValue], _ call: RulesCall) throws(RulesEvaluationError) -> RulesValue {
        let separator = try call.string()
        var result = ""
        for (index, item) in items.enumerated() {
            if index > 0 { result += separator }
            let text = try callBuiltIn(RulesCall(name: "string", arguments: [item], position: call.position))
            guard case .string(let text) = text, result.utf8.count <= Limit.stringBytes else { break }
            result += text
        }
        return try text(result, at: call.position)
    }

    private mutating func unique(
        _ items: [RulesValue], at position: RulesPosition
    ) throws(RulesEvaluationError) -> [RulesValue] {
        var kept: [RulesValue] = []
        for item in items where !(try contains(kept, item, at: position)) { kept.append(item) }
        return kept
    }

    // MARK: Sets

    mutating func callSet(_ call: RulesCall, _ items: [RulesValue]) throws(RulesEvaluationError) -> RulesValue {
        switch call.name {
        case "size": try call.takes(0)
        case "difference", "hasAll", "hasAny", "hasOnly", "intersection", "union": try call.takes(1)
        default: throw error("set has no method \(call.name)()", call.position)
        }
        switch call.name {
        case "size": return .integer(Int64(items.count))
        case "difference": return .set(try items.without(try call.set(), by: &self, at: call.position))
        case "intersection":
            let others = try items.without(try call.set(), by: &self, at: call.position)
            return .set(try items.without(others, by: &self, at: call.position))
        case "union":
            let others = try call.set().without(items, by: &self, at: call.position)
            return .set(try elements(items + others, at: call.position))
        default: return .bool(try compare(items, call))
        }
    }

    // MARK: Maps

    mutating func callMap(
        _ call: RulesCall, _ entries: [String: RulesValue]
    ) throws(RulesEvaluationError) -> RulesValue {
        switch call.name {
        case "size", "keys", "values": try call.takes(0)
        case "diff": try call.takes(1)
        case "get": try call.takes(2)
        default: throw error("map has no method \(call.name)()", call.position)
        }
        switch call.name {
        case "size": return .integer(Int64(entries.count))
        case "keys": return .list(entries.keys.sorted().map { .string($0) })
        case "values": return .list(entries.sorted { $0.key < $1.key }.map(\.value))
        case "diff": return .mapDiff(try diff(entries, try call.map(), at: call.position))
        default: return try find(call.arguments[0], in: entries, call) ?? call.arguments[1]
        }
    }

    /// What `get` finds: under a key, or under keys one inside the other.
    private func find(
        _ key: RulesValue, in entries: [String: RulesValue], _ call: RulesCall
    ) throws(RulesEvaluationError) -> RulesValue? {
        switch key {
        case .string(let key): return entries[key]
        case .list(let keys) where !keys.isEmpty:
            var found: RulesValue = .map(entries)
            for key in keys {
                guard case .string(let key) = key else { throw call.error("expects keys that are strings") }
                guard case .map(let entries) = found, let next = entries[key] else { return nil }
                found = next
            }
            return found
        default: throw call.wrongType(0, "a string or a list of strings")
        }
    }

    /// What `entries` has more, less and otherwise than `others`.
    private mutating func diff(
        _ entries: [String: RulesValue], _ others: [String: RulesValue], at position: RulesPosition
    ) throws(RulesEvaluationError) -> RulesMapDiff {
        var diff = RulesMapDiff()
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            if let other = others[key] {
                if try equal(value, other, at: position) {
                    diff.unchanged.append(key)
                } else {
                    diff.changed.append(key)
                }
            } else {
                diff.added.append(key)
            }
        }
        diff.removed = others.keys.filter { entries[$0] == nil }.sorted()
        return diff
    }

    func callMapDiff(_ call: RulesCall, _ diff: RulesMapDiff) throws(RulesEvaluationError) -> RulesValue {
        try call.takes(0)
        let keys: [String]
        switch call.name {
        case "addedKeys": keys = diff.added
        case "removedKeys": keys = diff.removed
        case "changedKeys": keys = diff.changed
        case "unchangedKeys": keys = diff.unchanged
        case "affectedKeys": keys = diff.added + diff.removed + diff.changed
        default: throw error("map_diff has no method \(call.name)()", call.position)
        }
        return .set(keys.map { .string($0) })
    }
}

extension [RulesValue] {
    /// The elements that are not among `others`.
    fileprivate func without(
        _ others: [RulesValue], by evaluator: inout RulesEvaluator, at position: RulesPosition
    ) throws(RulesEvaluationError) -> [RulesValue] {
        var kept: [RulesValue] = []
        for item in self where !(try evaluator.contains(others, item, at: position)) { kept.append(item) }
        return kept
    }
}
