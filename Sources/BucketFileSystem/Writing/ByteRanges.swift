/// A set of byte positions, kept as sorted ranges that neither touch nor overlap.
struct ByteRanges: Equatable, Sendable {
    private(set) var ranges: [Range<Int64>] = []

    var isEmpty: Bool { ranges.isEmpty }

    mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        // Sequential writing extends the last range; that needs no search.
        if let last = ranges.last, last.lowerBound <= range.lowerBound, range.lowerBound <= last.upperBound {
            ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            return
        }
        let start = firstIndex { $0.upperBound >= range.lowerBound }
        let end = firstIndex { $0.lowerBound > range.upperBound }
        var merged = range
        if start < end {
            merged =
                min(range.lowerBound, ranges[start].lowerBound)..<max(range.upperBound, ranges[end - 1].upperBound)
        }
        ranges.replaceSubrange(start..<end, with: [merged])
    }

    /// The ranges that overlap `range` or touch it, in order.
    func touching(_ range: Range<Int64>) -> ArraySlice<Range<Int64>> {
        // Sequential writing touches the last range alone; that needs no search.
        if let last = ranges.last, last.lowerBound <= range.lowerBound {
            return range.lowerBound <= last.upperBound ? ranges.suffix(1) : []
        }
        let start = firstIndex { $0.upperBound >= range.lowerBound }
        let end = firstIndex { $0.lowerBound > range.upperBound }
        return start < end ? ranges[start..<end] : []
    }

    /// How many positions of `range` are not in the set.
    func missingCount(in range: Range<Int64>) -> Int64 { missing(in: range).reduce(0) { $0 + Int64($1.count) } }

    /// Removes every position at or above `end`.
    mutating func cut(at end: Int64) {
        while let last = ranges.last, last.upperBound > end {
            ranges.removeLast()
            if last.lowerBound < end { ranges.append(last.lowerBound..<end) }
        }
    }

    func union(_ other: ByteRanges) -> ByteRanges {
        if other.isEmpty { return self }
        if isEmpty { return other }
        var union = self
        for range in other.ranges { union.insert(range) }
        return union
    }

    /// The parts of `range` that are not in the set, in order.
    func missing(in range: Range<Int64>) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var next = range.lowerBound
        var index = firstIndex { $0.upperBound > range.lowerBound }
        while next < range.upperBound, index < ranges.count, ranges[index].lowerBound < range.upperBound {
            if ranges[index].lowerBound > next { gaps.append(next..<ranges[index].lowerBound) }
            next = ranges[index].upperBound
            index += 1
        }
        if next < range.upperBound { gaps.append(next..<range.upperBound) }
        return gaps
    }

    /// The first index whose range satisfies `condition`, which must be monotonic over the order.
    private func firstIndex(where condition: (Range<Int64>) -> Bool) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if condition(ranges[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
