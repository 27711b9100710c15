import CISAL

/// A stored gzip file's plain bytes, made while they are sent.
@safe
final class Gunzip: ByteSource {
    private let file: OpenFile
    private let length: Int64
    private var offset: Int64 = 0
    private let state: OpaquePointer
    private var input: [UInt8] = []
    private var consumed = 0

    init(_ file: OpenFile, length: Int64) {
        self.file = file
        self.length = length
        unsafe state = firemount_gunzip_new()
    }

    deinit { unsafe firemount_gunzip_free(state) }

    /// Bytes that are no gzip end the answer abruptly: its status has been sent.
    func next(_ limit: Int) -> ByteSourceStep {
        while true {
            if consumed == input.count, !refill() { return .end }
            guard let (taken, output) = inflate(limit) else { return .broken }
            consumed += taken
            if !output.isEmpty { return .bytes(output) }
            if taken == 0 { return offset >= length ? .end : .broken }
        }
    }

    /// Nil when the input is not gzip.
    private func inflate(_ limit: Int) -> (taken: Int, output: [UInt8])? {
        var taken = 0
        var isBroken = false
        let output = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let produced = unsafe input.withUnsafeBytes { bytes in
                unsafe firemount_gunzip(
                    state, bytes.baseAddress! + consumed, bytes.count - consumed, &taken, buffer.baseAddress!, limit)
            }
            isBroken = produced < 0
            count = max(0, produced)
        }
        return isBroken ? nil : (taken, output)
    }

    private func refill() -> Bool {
        input = file.bytes(at: offset, count: Int(min(65_536, length - offset)))
        consumed = 0
        offset += Int64(input.count)
        return !input.isEmpty
    }
}
