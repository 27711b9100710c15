/// An answer's body that stalls, breaks off, or is not what is stored.
final class FaultyBody: ByteSource {
    private let source: any ByteSource
    private var position: Int64 = 0
    private var breakPoint: Int64?
    private var stall: (at: Int64, seconds: Int)?
    private var corruptPoint: Int64?

    /// The testbench lets this much through before it breaks a stream off.
    private static let defaultBreakPoint: Int64 = 4

    /// The answer with these faults in its body.
    static func apply(_ faults: [Instruction], to response: Response) -> Response {
        var response = response
        for case .truncateBody(let limit) in faults { response.truncate(to: limit) }
        let faulty = FaultyBody(response.body.source, length: response.length, faults)
        guard faulty.hasFault else { return response }
        response.body = .stream(faulty, length: response.length)
        return response
    }

    private init(_ source: any ByteSource, length: Int64?, _ faults: [Instruction]) {
        self.source = source
        for fault in faults {
            switch fault {
            case .breakOff(let after): breakPoint = min(after ?? Self.defaultBreakPoint, length ?? .max)
            case .stall(let seconds, let after): stall = (after ?? 0, seconds)
            case .corruptBody: corruptPoint = length.map { $0 / 2 } ?? 0
            default: break
            }
        }
    }

    private var hasFault: Bool { breakPoint != nil || stall != nil || corruptPoint != nil }

    func next(_ limit: Int) -> ByteSourceStep {
        if let stall, position >= stall.at {
            self.stall = nil
            return .pause(.seconds(stall.seconds))
        }
        if let breakPoint, position >= breakPoint { return .broken }
        let bound = [breakPoint, stall?.at].compactMap(\.self).filter { $0 > position }.min() ?? .max
        let step = source.next(Int(min(Int64(limit), bound - position)))
        guard case .bytes(var bytes) = step else { return step }
        if let point = corruptPoint, point >= position, point < position + Int64(bytes.count) {
            bytes[Int(point - position)] ^= 0xFF
        }
        position += Int64(bytes.count)
        return .bytes(bytes)
    }
}

/// A part of a file, byte by byte through memory.
private final class FileSource: ByteSource {
    private let file: OpenFile
    private var offset: Int64
    private let end: Int64

    init(_ file: OpenFile, offset: Int64, length: Int64) {
        self.file = file
        self.offset = offset
        end = offset + length
    }

    func next(_ limit: Int) -> ByteSourceStep {
        let bytes = file.bytes(at: offset, count: Int(min(Int64(limit), end - offset)))
        offset += Int64(bytes.count)
        return bytes.isEmpty ? .end : .bytes(bytes)
    }
}

private final class MemorySource: ByteSource {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func next(_ limit: Int) -> ByteSourceStep {
        let piece = bytes[offset..<min(offset + limit, bytes.count)]
        offset = piece.endIndex
        return piece.isEmpty ? .end : .bytes(Array(piece))
    }
}

extension Response {
    fileprivate mutating func truncate(to limit: Int64) {
        switch body {
        case .bytes(let bytes): body = .bytes(Array(bytes.prefix(Int(limit))))
        case .file(let file, let offset, let length): body = .file(file, offset: offset, length: min(length, limit))
        case .stream, .reset: break
        }
    }
}

extension Response.Body {
    fileprivate var source: any ByteSource {
        switch self {
        case .bytes(let bytes): MemorySource(bytes)
        case .file(let file, let offset, let length): FileSource(file, offset: offset, length: length)
        case .stream(let source, _): source
        case .reset: MemorySource([])
        }
    }
}
