import CCrypto
import CISAL

/// What identifies content: CRC32C always, MD5 unless it is composed or the server was told not to compute it.
struct Checksums: Equatable, Sendable {
    var crc32c: UInt32
    var md5: [UInt8]?
}

/// Checksums of bytes while they arrive. One owner, one thread at a time.
@safe
final class RunningChecksums {
    private var crc: UInt32 = 0
    private let digest: OpaquePointer?

    /// Goes on where bytes with this CRC32C ended; without an MD5, which cannot be taken up again.
    init(after crc32c: UInt32) {
        crc = crc32c
        unsafe digest = nil
    }

    init(computesMD5: Bool) {
        unsafe digest = computesMD5 ? EVP_MD_CTX_new() : nil
        if let digest = unsafe digest { unsafe EVP_DigestInit_ex(digest, EVP_md5(), nil) }
    }

    /// A copy that can go on by itself.
    private init(copying other: RunningChecksums) {
        crc = other.crc
        unsafe digest = other.digest == nil ? nil : EVP_MD_CTX_new()
        if let digest = unsafe digest { unsafe EVP_MD_CTX_copy_ex(digest, other.digest) }
    }

    deinit { unsafe EVP_MD_CTX_free(digest) }

    func update(_ bytes: RawSpan) {
        guard bytes.byteCount > 0 else { return }
        unsafe bytes.withUnsafeBytes { bytes in
            crc = unsafe firemount_crc32c(crc, bytes.baseAddress, bytes.count)
            if let digest = unsafe digest { unsafe EVP_DigestUpdate(digest, bytes.baseAddress, bytes.count) }
        }
    }

    func copy() -> RunningChecksums { RunningChecksums(copying: self) }

    /// The checksums of all bytes so far; more may follow.
    func value() -> Checksums {
        guard unsafe digest != nil else { return Checksums(crc32c: crc, md5: nil) }
        let last = RunningChecksums(copying: self)
        let md5 = unsafe [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            unsafe EVP_DigestFinal_ex(last.digest, buffer.baseAddress, nil)
            count = 16
        }
        return Checksums(crc32c: crc, md5: md5)
    }
}

/// CRC32C as the API prints it: base64 of its four bytes, the highest first.
func base64(crc32c: UInt32) -> [UInt8] {
    base64([UInt8(crc32c >> 24), UInt8(crc32c >> 16 & 255), UInt8(crc32c >> 8 & 255), UInt8(crc32c & 255)])
}
