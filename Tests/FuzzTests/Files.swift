import Glibc

/// Makes the file at `path` hold `bytes` and nothing else.
func write(_ bytes: [UInt8], to path: String) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(file >= 0, "cannot write \(path)")
    defer { close(file) }
    let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
    precondition(written == bytes.count, "cannot write \(path)")
}

/// All bytes of a small file.
func readFile(_ path: String) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY)
    precondition(file >= 0, "cannot read \(path)")
    defer { close(file) }
    return unsafe Array(unsafeUninitializedCapacity: 1 << 20) { buffer, count in
        let got = unsafe read(file, buffer.baseAddress, buffer.count)
        precondition(got >= 0 && got < buffer.count, "cannot read \(path)")
        count = got
    }
}
