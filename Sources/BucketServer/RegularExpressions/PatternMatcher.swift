/// Follows all ways through a program at once, a character at a time (Thompson's simulation, with priorities as in
/// Pike's): each instruction is visited once per character at most.
struct PatternMatcher {
    private struct Thread {
        let instruction: Int
        /// Where its match began.
        let start: Int
    }

    private let program: [PatternInstruction]
    private let text: [Unicode.Scalar]
    /// Whether a match must go to the text's end.
    private let needsEnd: Bool
    /// Those that wait for a character, preferred ones first.
    private var threads: [Thread] = []
    /// The position at which an instruction was visited last, plus one.
    private var visited: [Int]

    init(_ program: [PatternInstruction], _ text: [Unicode.Scalar], needsEnd: Bool) {
        self.program = program
        self.text = text
        self.needsEnd = needsEnd
        visited = [Int](repeating: 0, count: program.count)
    }

    /// - Parameter isAnchored: whether the match must begin at `start`.
    mutating func run(
        from start: Int, isAnchored: Bool, work: inout Int
    ) throws(PatternError) -> Range<Int>? {
        var found: Range<Int>?
        for index in start...text.count {
            let waiting = threads
            threads.removeAll(keepingCapacity: true)
            for thread in waiting {
                guard index > start, case .take(let set) = program[thread.instruction] else { continue }
                work -= set.members.count
                guard set.contains(text[index - 1]) else { continue }
                if try follow(thread.instruction + 1, begun: thread.start, at: index, work: &work) {
                    found = thread.start..<index
                    // Those behind it are less preferred.
                    break
                }
            }
            if found == nil, index == start || !isAnchored {
                if try follow(0, begun: index, at: index, work: &work) { found = index..<index }
            }
            if threads.isEmpty, found != nil || isAnchored { break }
        }
        return found
    }

    /// Adds the threads that wait behind `instruction`.
    /// - Returns: whether one of its ways is a match; less preferred ways than that are dropped.
    private mutating func follow(
        _ instruction: Int, begun start: Int, at index: Int, work: inout Int
    ) throws(PatternError) -> Bool {
        var stack = [instruction]
        while let next = stack.popLast() {
            work -= 1
            guard work >= 0 else { throw .tooMuchWork }
            guard visited[next] != index + 1 else { continue }
            visited[next] = index + 1
            switch program[next] {
            case .take: threads.append(Thread(instruction: next, start: start))
            case .assert(let assertion): if assertion.holds(at: index, in: text) { stack.append(next + 1) }
            case .jump(let target): stack.append(target)
            case .split(let first, let second): stack += [second, first]
            case .match: if !needsEnd || index == text.count { return true }
            }
        }
        return false
    }
}
