/// A step of a compiled pattern; the next instruction follows unless it says otherwise.
enum PatternInstruction: Sendable {
    case take(ScalarSet)
    case assert(PatternAssertion)
    /// Goes on at both; the first is preferred.
    case split(Int, Int)
    case jump(Int)
    case match
}

/// Turns a pattern's tree into instructions for `PatternMatcher`.
struct PatternCompiler {
    private var program: [PatternInstruction] = []
    /// Nodes taken up so far: a repetition of nothing makes no instructions, yet may go on for ever.
    private var steps = 0

    static func compile(_ node: PatternNode) throws(PatternError) -> [PatternInstruction] {
        var compiler = PatternCompiler()
        try compiler.add(node)
        compiler.program.append(.match)
        return compiler.program
    }

    private mutating func append(_ instruction: PatternInstruction) throws(PatternError) {
        guard program.count < RegularExpression.Limit.instructions else { throw PatternError("the pattern is too big") }
        program.append(instruction)
    }

    private mutating func add(_ node: PatternNode) throws(PatternError) {
        steps += 1
        guard steps <= 2 * RegularExpression.Limit.instructions else { throw PatternError("the pattern is too big") }
        switch node {
        case .empty: break
        case .set(let set): try append(.take(set))
        case .assertion(let assertion): try append(.assert(assertion))
        case .sequence(let nodes): for node in nodes { try add(node) }
        case .alternatives(let nodes): try add(alternatives: nodes)
        case .repetition(let node, let min, let max, let isGreedy):
            for _ in 0..<min { try add(node) }
            if let max {
                try add(node, upTo: max - min, isGreedy: isGreedy)
            } else {
                try addLoop(node, isGreedy: isGreedy)
            }
        }
    }

    private mutating func add(alternatives: [PatternNode]) throws(PatternError) {
        var jumps: [Int] = []
        for (offset, node) in alternatives.enumerated() {
            guard offset < alternatives.count - 1 else {
                try add(node)
                break
            }
            let split = program.count
            try append(.split(split + 1, split + 1))
            try add(node)
            jumps.append(program.count)
            try append(.jump(0))
            program[split] = .split(split + 1, program.count)
        }
        for jump in jumps { program[jump] = .jump(program.count) }
    }

    /// `node?` so many times, each inside the one before.
    private mutating func add(_ node: PatternNode, upTo count: Int, isGreedy: Bool) throws(PatternError) {
        var splits: [Int] = []
        for _ in 0..<count {
            splits.append(program.count)
            try append(.jump(0))
            try add(node)
        }
        for split in splits { program[split] = choice(split + 1, or: program.count, isGreedy) }
    }

    private mutating func addLoop(_ node: PatternNode, isGreedy: Bool) throws(PatternError) {
        let split = program.count
        try append(.jump(0))
        try add(node)
        try append(.jump(split))
        program[split] = choice(split + 1, or: program.count, isGreedy)
    }

    private func choice(_ more: Int, or end: Int, _ isGreedy: Bool) -> PatternInstruction {
        isGreedy ? .split(more, end) : .split(end, more)
    }
}
