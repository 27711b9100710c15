/// The fewest operations that still show a difference: leaves out ever smaller pieces of a run as long as what is left
/// fails (Zeller's delta debugging, without its complements). Takes a few minutes at most, and then what it has.
struct ShortestFailure {
    private let deadline = ContinuousClock.now + .seconds(300)

    /// - Parameter found: what all operations up to its own have shown.
    func find(_ found: RandomOperations.Difference) async -> RandomOperations.Difference {
        var shortest = found
        var numbers = Array(0...found.operation)
        var piece = numbers.count / 2
        while piece > 0 {
            var start = 0
            while start < numbers.count, ContinuousClock.now < deadline {
                let fewer = Array(numbers[..<start] + numbers[min(start + piece, numbers.count)...])
                if let difference = await difference(found.seed, fewer) {
                    shortest = difference
                    numbers = fewer.filter { $0 <= difference.operation }
                } else {
                    start += piece
                }
            }
            piece /= 2
        }
        return shortest
    }

    private func difference(_ seed: UInt64, _ numbers: [Int]) async -> RandomOperations.Difference? {
        do {
            try await RandomOperations(seed: seed).run(numbers)
            return nil
        } catch { return error as? RandomOperations.Difference }
    }
}
