import Locking
import ObjectStore

/// One read of a file with unsaved bytes: put together from the staging file, the bucket's version and zeros.
struct StagedRead {
    let file: StagingFile
    let segments: [StagedWrite.Segment]
    let range: Range<Int64>

    /// Some of it is the bucket's version's.
    var needsBase: Bool {
        segments.contains { if case .base = $0 { true } else { false } }
    }

    /// Calls `completion` once: at once when no byte of the bucket's version is needed.
    func run(
        base: ObjectContent?, cursor: ReadCursor,
        completion: @escaping @Sendable (Result<ReadBytes, FileSystemError>) -> Void
    ) {
        let assembly = Assembly(count: range.count, parts: segments.count, completion: completion)
        for segment in segments {
            switch segment {
            case .zeros: assembly.partIsDone(.success(()))
            case .staged(let part):
                assembly.partIsDone(
                    Result { () throws(FileSystemError) in
                        try unsafe file.read(
                            into: assembly.buffer(for: part, of: range.lowerBound), at: part.lowerBound)
                    })
            case .base(let part):
                guard let base else {
                    assembly.partIsDone(.failure(.stale))
                    continue
                }
                let start = range.lowerBound
                readAll(part, of: base, cursor: cursor, start: start, assembly: assembly)
            }
        }
        if segments.isEmpty { completion(.success(ReadBytes(pieces: []))) }
    }

    private func readAll(
        _ part: Range<Int64>, of base: ObjectContent, cursor: ReadCursor, start: Int64, assembly: Assembly
    ) {
        base.read(at: part.lowerBound, count: part.count, cursor: cursor) { result in
            assembly.partIsDone(
                result.mapError(FileSystemError.init(reading:)).map { bytes in
                    unsafe assembly.buffer(for: part, of: start).copy(from: bytes)
                })
        }
    }
}

/// The buffer that the parts of one read fill, and who waits for the last of them.
/// It is safe to share: each part fills its own range, and the counter's lock orders the fills before the hand-over.
@safe
private final class Assembly: @unchecked Sendable {
    private let buffer: UnsafeMutableRawBufferPointer
    private let completion: @Sendable (Result<ReadBytes, FileSystemError>) -> Void
    private let rest: Lock<(parts: Int, failure: FileSystemError?)>

    init(count: Int, parts: Int, completion: @escaping @Sendable (Result<ReadBytes, FileSystemError>) -> Void) {
        unsafe buffer = .allocate(byteCount: max(count, 1), alignment: 4_096)
        _ = unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
        self.completion = completion
        rest = Lock((parts, nil))
    }

    deinit { unsafe buffer.deallocate() }

    func buffer(for part: Range<Int64>, of start: Int64) -> UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(
            rebasing: buffer[Int(part.lowerBound - start)..<Int(part.upperBound - start)])
    }

    func partIsDone(_ result: Result<Void, FileSystemError>) {
        let end = rest.withLock { rest -> Result<Void, FileSystemError>? in
            rest.parts -= 1
            if case .failure(let error) = result { rest.failure = rest.failure ?? error }
            guard rest.parts == 0 else { return nil }
            return rest.failure.map { .failure($0) } ?? .success(())
        }
        guard let end else { return }
        completion(
            end.map { unsafe ReadBytes(pieces: [ReadBytes.Piece(bytes: UnsafeRawBufferPointer(buffer), owner: self)]) })
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Fills from the start with `bytes`; anything beyond them stays.
    fileprivate func copy(from bytes: ReadBytes) {
        var next = 0
        for piece in bytes.pieces {
            let count = unsafe Swift.min(piece.bytes.count, self.count - next)
            unsafe UnsafeMutableRawBufferPointer(rebasing: self[next..<next + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: piece.bytes[..<count]))
            next += count
        }
    }
}
