/// CRC32C of a whole from those of its parts, without its bytes.
///
/// A checksum is a polynomial over GF(2), modulo Castagnoli's; bits are reversed (RFC 3720, appendix B.4), so that the
/// highest one is x⁰. Appending n bytes multiplies what stands before by x⁸ⁿ.
enum CRC32C {
    /// The checksum of A followed by B, from theirs and B's length in bytes.
    static func combine(_ first: UInt32, _ second: UInt32, length: Int64) -> UInt32 {
        product(first, shift(by: length)) ^ second
    }

    /// The checksum of all parts in a row, from the checksum and the length of each.
    static func combine(_ parts: some Sequence<(checksum: UInt32, length: Int64)>) -> UInt32 {
        var whole: UInt32 = 0
        // Parts are mostly of one length.
        var last: (length: Int64, shift: UInt32) = (0, one)
        for part in parts {
            if part.length != last.length { last = (part.length, shift(by: part.length)) }
            whole = product(whole, last.shift) ^ part.checksum
        }
        return whole
    }

    private static let polynomial: UInt32 = 0x82F6_3B78
    private static let one: UInt32 = 1 << 31

    /// x⁸ⁿ for n bytes, by squaring.
    private static func shift(by length: Int64) -> UInt32 {
        var power: UInt32 = one >> 8
        var shift = one
        var rest = length
        while rest > 0 {
            if rest & 1 == 1 { shift = product(shift, power) }
            power = product(power, power)
            rest >>= 1
        }
        return shift
    }

    private static func product(_ first: UInt32, _ second: UInt32) -> UInt32 {
        var product: UInt32 = 0
        var rest = first
        var term = second
        while rest != 0 {
            if rest & one != 0 { product ^= term }
            rest <<= 1
            term = term >> 1 ^ (term & 1 == 1 ? polynomial : 0)
        }
        return product
    }
}
