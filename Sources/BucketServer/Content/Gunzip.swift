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
    func read(into buffer: UnsafeMutableRawBufferPointer) -> ByteSourceStep {
        while true {
            if consumed == input.count, !refill() { return .end }
            var taken = 0
            let produced = unsafe input.withUnsafeBytes { bytes in
                unsafe firemount_gunzip(
                    state, bytes.baseAddress! + consumed, bytes.count - consumed, &taken, buffer.baseAddress!,
                    buffer.count)
            }
            guard produced >= 0 else { return .broken }
            consumed += taken
            if produced > 0 { return .bytes(produced) }
            if taken == 0 { return offset >= length ? .end : .broken }
        }
    }

    private func refill() -> Bool {
        input = file.bytes(at: offset, count: Int(min(65_536, length - offset)))
        consumed = 0
        offset += Int64(input.count)
        return !input.isEmpty
    }
}
