import CISAL

/// The checksum that the service knows of every object.
enum CRC32C {
    /// That of bytes that follow those with checksum `crc`; begin with 0.
    static func extend(_ crc: UInt32, by bytes: UnsafeRawBufferPointer) -> UInt32 {
        unsafe firemount_crc32c(crc, bytes.baseAddress, bytes.count)
    }
}
