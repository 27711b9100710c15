/// CRC32C of a whole from those of its parts, without its bytes.
enum CRC32C {
    /// The checksum of A followed by B, from theirs and B's length. Appending zeros to A is a linear map over GF(2);
    /// its matrix for `length` bytes is made by squaring.
    static func combine(_ first: UInt32, _ second: UInt32, length: Int64) -> UInt32 {
        var matrix = [reflectedPolynomial] + (0..<31).map { 1 << UInt32($0) }
        // One bit; three squarings make it one byte.
        for _ in 0..<3 { matrix = squared(matrix) }
        var shifted = first
        var rest = length
        while rest > 0 {
            if rest & 1 == 1 { shifted = product(matrix, shifted) }
            matrix = squared(matrix)
            rest >>= 1
        }
        return shifted ^ second
    }

    /// Castagnoli's, bits reversed (RFC 3720, appendix B.4).
    private static let reflectedPolynomial: UInt32 = 0x82F6_3B78

    private static func product(_ matrix: [UInt32], _ vector: UInt32) -> UInt32 {
        var sum: UInt32 = 0
        for (index, row) in matrix.enumerated() where vector >> UInt32(index) & 1 == 1 { sum ^= row }
        return sum
    }

    private static func squared(_ matrix: [UInt32]) -> [UInt32] { matrix.map { product(matrix, $0) } }
}
