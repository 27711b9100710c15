import CCrypto
import CISAL

/// The functions of `hashing.`.
enum RulesHash: String {
    case crc32, crc32c, md5, sha256

    func digest(of bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .crc32: bigEndian(Self.crc32(bytes))
        case .crc32c: bigEndian(unsafe firemount_crc32c(0, bytes, bytes.count))
        case .md5: unsafe digest(of: bytes, EVP_md5(), count: 16)
        case .sha256: unsafe digest(of: bytes, EVP_sha256(), count: 32)
        }
    }

    private func digest(of bytes: [UInt8], _ algorithm: OpaquePointer?, count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            unsafe EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, algorithm, nil)
            initialized = count
        }
    }

    private func bigEndian(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }

    /// The checksum of Ethernet and gzip, bit by bit: rules hash little.
    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var value = UInt32.max
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }
}
