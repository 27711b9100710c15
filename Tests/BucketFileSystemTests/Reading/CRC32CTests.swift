import CISAL
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct CRC32CTests {
    @Test(arguments: UInt64(0)..<40)
    func partsMakeTheChecksumOfTheWhole(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let bytes = (0..<Int.random(in: 0...5_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
        }
        let cut = Int.random(in: 0...bytes.count, using: &random)
        let (first, second) = (checksum(bytes[..<cut]), checksum(bytes[cut...]))
        #expect(CRC32C.combine(first, second, length: Int64(bytes.count - cut)) == checksum(bytes[...]))
    }

    private func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        unsafe bytes.withUnsafeBytes { unsafe firemount_crc32c(0, $0.baseAddress, $0.count) }
    }
}
