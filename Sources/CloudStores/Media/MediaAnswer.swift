import HTTPTransport
import ObjectStore

/// What the head of a media answer (200 or 206) says (PROTOCOL 4.4). A pure value.
struct MediaAnswer: Sendable, Equatable {
    let objectGeneration: ObjectGeneration?
    let metageneration: Metageneration?
    let crc32c: UInt32?
    /// Which of the object's stored bytes the body holds.
    let span: Range<Int64>
    let objectSize: Int64

    struct Malformed: Error, Equatable {
        let problem: String
    }

    init(_ head: HTTPResponseHead) throws(Malformed) {
        objectGeneration = head.first("x-goog-generation").flatMap { Int64($0) }.map { ObjectGeneration($0) }
        metageneration = head.first("x-goog-metageneration").flatMap { Int64($0) }.map { Metageneration($0) }
        crc32c = Self.checksum(in: head.joined("x-goog-hash"))
        // Decoded bytes have another length and other offsets than stored ones.
        guard !head.joined("x-guploader-response-body-transformations").contains("gunzipped") else {
            throw Malformed(problem: "the server decoded the object instead of sending what is stored")
        }
        let length = try head.first("content-length").map { text throws(Malformed) in
            guard let length = Int64(text), length >= 0 else { throw Malformed(problem: "Content-Length “\(text)”") }
            return length
        }
        if head.status == 206 {
            guard let text = head.first("content-range"), let range = ContentRange(text), let span = range.span else {
                throw Malformed(problem: "a part of the object without a proper Content-Range")
            }
            guard let size = range.size else { throw Malformed(problem: "Content-Range does not tell the size") }
            // A shorter one announces a body that is cut short, which is met like any other cut.
            guard length ?? 0 <= span.upperBound - span.lowerBound else {
                throw Malformed(problem: "Content-Length is more than Content-Range")
            }
            self.span = span
            objectSize = size
        } else {
            guard let length else {
                throw Malformed(problem: "no Content-Length: the server may have decoded the object")
            }
            span = 0..<length
            objectSize = length
        }
        if let stored = head.first("x-goog-stored-content-length").flatMap({ Int64($0) }), stored != objectSize {
            throw Malformed(problem: "\(objectSize) bytes are announced and \(stored) are stored")
        }
    }

    /// `crc32c=…` among the comma-separated hashes of one or more `x-goog-hash` headers.
    static func checksum(in hashes: String) -> UInt32? {
        for hash in hashes.split(separator: ",") {
            let text = hash.drop { $0 == " " }
            guard text.lowercased().hasPrefix("crc32c=") else { continue }
            return UInt32(checksumBytes: Base64.decode(text.dropFirst(7).prefix { $0 != " " }))
        }
        return nil
    }
}

/// `bytes 0-4/10`, `bytes */10`, `bytes 0-4/*`.
struct ContentRange: Sendable, Equatable {
    /// nil: `*`.
    let span: Range<Int64>?
    /// nil: `*`.
    let size: Int64?

    /// nil when malformed.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] == "*" {
            size = nil
        } else {
            guard let total = Self.number(parts[1]) else { return nil }
            size = total
        }
        if parts[0] == "*" {
            span = nil
        } else {
            let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
                last < size ?? Int64.max
            else { return nil }
            span = first..<last + 1
        }
    }

    private static func number(_ text: Substring) -> Int64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
