/// Reads the words after a command's name by its table of options.
struct ArgumentParser<Arguments> {
    let options: [Option<Arguments>]

    /// Stores every option into `arguments` and returns the other words in order. Options may stand anywhere before
    /// `--`; `--name=value` and `--name value` are the same, so are `-ovalue` and `-o value`.
    func parse(_ words: [String], into arguments: inout Arguments) throws(UsageError) -> [String] {
        var operands: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" { return operands + rest }
            if word.hasPrefix("--") {
                try parseLong(word.dropFirst(2), rest: &rest, into: &arguments)
            } else if word.hasPrefix("-"), word != "-" {
                try parseLetters(word.dropFirst(), rest: &rest, into: &arguments)
            } else {
                operands.append(word)
            }
        }
        return operands
    }

    private func parseLong(
        _ word: Substring, rest: inout ArraySlice<String>, into arguments: inout Arguments
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0]
        guard let option = options.first(where: { $0.name == name }) else { throw unknown(String(name)) }
        if parts.count == 2 {
            try option.apply(String(parts[1]), to: &arguments)
        } else {
            try option.apply(option.placeholder == nil ? nil : rest.popFirst(), to: &arguments)
        }
    }

    /// `-f`, `-fo LIST`, `-oLIST`.
    private func parseLetters(
        _ letters: Substring, rest: inout ArraySlice<String>, into arguments: inout Arguments
    ) throws(UsageError) {
        var letters = letters
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.letter == letter }) else {
                throw UsageError("unknown option -\(letter)")
            }
            guard option.placeholder != nil else {
                try option.apply(nil, to: &arguments)
                continue
            }
            try option.apply(letters.isEmpty ? rest.popFirst() : String(letters), to: &arguments)
            return
        }
    }

    private func unknown(_ name: String) -> UsageError {
        let near = nearest(to: name, among: options.map(\.name))
        return UsageError("unknown option --\(name)" + (near.map { "; did you mean --\($0)?" } ?? ""))
    }
}

/// The candidate that `word` was probably meant to be; nil if none is near.
func nearest(to word: String, among candidates: [String]) -> String? {
    let distances = candidates.map { (name: $0, distance: editDistance(Array(word.utf8), Array($0.utf8))) }
    guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= max(1, word.utf8.count / 3) ? best.name : nil
}

/// How many bytes must be put in, left out, changed or swapped with the next to make `left` of `right` (optimal string
/// alignment).
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
        var row = [i + 1]
        for j in right.indices {
            var best = min(last[j] + (left[i] == right[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                best = min(best, beforeLast[j - 1] + 1)
            }
            row.append(best)
        }
        (beforeLast, last) = (last, row)
    }
    return last[right.count]
}
