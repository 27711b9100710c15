import Glibc

/// Where `pattern` first begins in `bytes`.
func firstRange(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    let offset: Int? = unsafe bytes.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return nil }
        var offset = 0
        while offset + pattern.count <= bytes.count {
            let room = bytes.count - offset - pattern.count + 1
            guard let found = unsafe memchr(base + offset, Int32(pattern[0]), room) else { return nil }
            offset = unsafe UnsafeRawPointer(found) - base
            if unsafe memcmp(base + offset, pattern, pattern.count) == 0 { return offset }
            offset += 1
        }
        return nil
    }
    return offset.map { bytes.startIndex + $0 }
}

extension [UInt8] {
    mutating func append(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }
}
