import CISAL
import HTTPTransport
import ObjectStore

/// How far a read has come, over all its requests: decides what is asked for, what of an answer is handed on, and how
/// an attempt ended. Knows no transport and calls nobody.
struct ReadCourse {
    enum Conclusion {
        case finished
        case failed(StorageError)
        /// The credentials were refused.
        case unauthorized(StorageError)
        /// The same again, or from where we are.
        case again(RetryPolicy.Failure, StorageError)
        /// Another request, at once.
        case immediately
    }

    private enum Attempt {
        case waiting
        /// The body of an answer that we can use; `position` is the object's offset of its next byte.
        case body(MediaAnswer, position: Int64)
        /// The body of an answer that says no.
        case refusal(HTTPResponseHead, body: [UInt8])
        /// Ended by us, on purpose.
        case ended(Conclusion)
    }

    let request: ReadRequest
    /// The protocol can ask for one generation; else whichever is live answers.
    let asksForGeneration: Bool
    /// Which generation must answer: the one asked for, or the one that the first answer showed.
    private(set) var objectGeneration: ObjectGeneration?
    private var head: ReadHead?
    /// Bytes handed on or held back.
    private(set) var received: Int64 = 0
    private var receivedBefore: Int64 = 0
    private var attempt = Attempt.waiting
    /// Over all bytes of the object so far, as long as the read began at its start.
    private var checksum: UInt32 = 0
    private var heldBack: [UInt8] = []
    private var damages = 0
    /// An empty object makes any range unsatisfiable; without one its head comes as usual.
    private var asksWithoutRange = false

    /// Whole objects up to this size are handed on only once their checksum is known to be right: a second request can
    /// then still mend a damaged first one.
    private static let heldBackLimit: Int64 = 128 << 10
    /// How many times damage is met with a new request.
    private static let damageLimit = 1
    private static let errorBodyLimit = 16 << 10

    init(_ request: ReadRequest, asksForGeneration: Bool = true) {
        self.request = request
        self.asksForGeneration = asksForGeneration
        objectGeneration = request.objectGeneration
    }

    /// Whether the last attempt brought bytes, and not only single ones: so could a server keep us for ever.
    var hasAdvanced: Bool { received - receivedBefore >= Self.leastAdvance }

    /// As the transport counts what moves.
    static let leastAdvance: Int64 = 1_024

    /// nil: the whole object is asked for.
    var rangeHeader: String? {
        let start = request.offset + received
        let rest = head.map { $0.count - received } ?? request.count
        guard !asksWithoutRange, start > 0 || rest != nil else { return nil }
        // Zero bytes cannot be asked for: one is, and not handed on.
        guard let rest, start <= Int64.max - max(rest, 1) else { return "bytes=\(start)-" }
        return "bytes=\(start)-\(start + max(rest, 1) - 1)"
    }

    mutating func beginAttempt() {
        receivedBefore = received
        attempt = .waiting
    }

    // MARK: Head

    struct HeadStep {
        /// To be handed on.
        var announcement: ReadHead?
        var goesOn: Bool
    }

    mutating func receive(_ answer: HTTPResponseHead) -> HeadStep {
        guard answer.status == 200 || answer.status == 206 else {
            attempt = .refusal(answer, body: [])
            return HeadStep(goesOn: true)
        }
        do throws(StorageError) {
            let media = try self.media(answer)
            let announcement = try accept(media, status: answer.status)
            attempt = .body(media, position: media.span.lowerBound)
            return HeadStep(announcement: announcement, goesOn: true)
        } catch {
            attempt = .ended(error.kind == .malformedAnswer ? damage(error) : .failed(error))
            return HeadStep(goesOn: false)
        }
    }

    private func media(_ answer: HTTPResponseHead) throws(StorageError) -> MediaAnswer {
        do {
            return try MediaAnswer(answer)
        } catch {
            throw failure(.malformedAnswer, error.problem, answer.status)
        }
    }

    /// - Returns: the head to announce, the first time.
    private mutating func accept(_ media: MediaAnswer, status: Int) throws(StorageError) -> ReadHead? {
        // Without one it may be anything, such as a gateway's page.
        guard let generation = media.objectGeneration else {
            throw failure(.malformedAnswer, "the answer does not tell the object's generation", status)
        }
        guard objectGeneration == nil || objectGeneration == generation else {
            throw failure(.generationChanged, "generation \(generation) answered", status)
        }
        let start = request.offset + received
        guard media.span.lowerBound <= start else {
            throw failure(.malformedAnswer, "the answer begins at \(media.span.lowerBound), not at \(start)", status)
        }
        if let head {
            guard head.objectSize == media.objectSize else {
                throw failure(.generationChanged, "the object's size changed under one generation", status)
            }
            return nil
        }
        guard request.offset < media.objectSize || request.offset == 0 else {
            throw failure(.rangeNotSatisfiable, "the object has \(media.objectSize) bytes", status)
        }
        objectGeneration = generation
        let rest = media.objectSize - request.offset
        let head = ReadHead(
            objectGeneration: generation, metageneration: media.metageneration, objectSize: media.objectSize,
            count: min(request.count ?? rest, rest), crc32c: media.crc32c)
        self.head = head
        return head
    }

    // MARK: Body

    @safe
    struct BodyStep {
        /// To be handed on; part of the bytes that came.
        var deliverable: UnsafeRawBufferPointer
        var goesOn: Bool
    }

    private static var nothing: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: nil, count: 0) }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> BodyStep {
        switch attempt {
        case .refusal(let answer, var body):
            attempt = .waiting
            let room = max(0, Self.errorBodyLimit - body.count)
            unsafe body.append(contentsOf: bytes.prefix(room))
            attempt = .refusal(answer, body: body)
            return unsafe BodyStep(deliverable: Self.nothing, goesOn: true)
        case .body(let media, let position): return unsafe receive(bytes, of: media, at: position)
        case .waiting, .ended: return unsafe BodyStep(deliverable: Self.nothing, goesOn: false)
        }
    }

    private mutating func receive(
        _ bytes: UnsafeRawBufferPointer, of media: MediaAnswer, at position: Int64
    ) -> BodyStep {
        let end = position + Int64(bytes.count)
        guard end <= media.span.upperBound else {
            attempt = .ended(damage("more bytes came than were announced"))
            return unsafe BodyStep(deliverable: Self.nothing, goesOn: false)
        }
        attempt = .body(media, position: end)
        let wantedEnd = request.offset + (head?.count ?? 0)
        let start = request.offset + received
        // An answer to a range may be the whole object.
        let lower = min(max(start, position), end)
        let upper = max(lower, min(wantedEnd, end))
        let wanted = unsafe UnsafeRawBufferPointer(rebasing: bytes[Int(lower - position)..<Int(upper - position)])
        unsafe take(wanted)
        if wantedEnd <= end, end < media.span.upperBound {
            attempt = .ended(verdict())
            return unsafe BodyStep(deliverable: isHeldBack ? Self.nothing : wanted, goesOn: false)
        }
        return unsafe BodyStep(deliverable: isHeldBack ? Self.nothing : wanted, goesOn: true)
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) {
        received += Int64(bytes.count)
        if isWhole { checksum = unsafe firemount_crc32c(checksum, bytes.baseAddress, bytes.count) }
        if isHeldBack { unsafe heldBack.append(contentsOf: bytes) }
    }

    /// Whether the read is of all bytes of an object whose checksum is known.
    private var isWhole: Bool {
        guard let head else { return false }
        return request.offset == 0 && head.count == head.objectSize && head.crc32c != nil
    }

    private var isHeldBack: Bool { isWhole && (head?.objectSize ?? 0) <= Self.heldBackLimit }

    mutating func takeHeldBack() -> [UInt8] {
        defer { heldBack = [] }
        return heldBack
    }

    // MARK: End

    mutating func conclude(_ result: Result<Void, TransportError>, isCancelled: Bool) -> Conclusion {
        if isCancelled { return .failed(.cancelled("read", request.name)) }
        if case .ended(let conclusion) = attempt { return conclusion }
        if case .failure(let error) = result {
            return .again(.transport(error.kind), StorageError(error, "read", request.name))
        }
        switch attempt {
        case .waiting, .ended: return .failed(failure(.malformedAnswer, "the answer had no head", nil))
        case .refusal(let answer, let body): return concludeRefusal(answer, body)
        case .body:
            guard received == head?.count else { return damage("fewer bytes came than were announced") }
            return verdict()
        }
    }

    private mutating func concludeRefusal(_ answer: HTTPResponseHead, _ body: [UInt8]) -> Conclusion {
        let refusal = ErrorAnswer(answer, body: body)
        let error = refusal.error("read", request.name)
        switch answer.status {
        case 401: return .unauthorized(error)
        case 304, 412: return .failed(failure(.generationChanged, refusal.message, answer.status))
        case 404 where head != nil:
            return .failed(failure(.generationChanged, "the object was replaced or deleted meanwhile", answer.status))
        case 416 where !asksForGeneration && objectGeneration != nil && request.offset + received > 0:
            // Whoever names a generation knows its size: a shorter one has taken its place.
            return .failed(failure(.generationChanged, "the object is shorter than it was", answer.status))
        case 416 where request.offset == 0 && received == 0 && !asksWithoutRange:
            // The object is empty. Asked without a range, the server tells the rest.
            asksWithoutRange = true
            return .immediately
        default: return .again(refusal.failure, error)
        }
    }

    /// All bytes are there: are they the right ones?
    private mutating func verdict() -> Conclusion {
        guard isWhole, let expected = head?.crc32c, expected != checksum else { return .finished }
        let problem = "CRC32C \(checksum.checksumText) instead of \(expected.checksumText)"
        guard isHeldBack else { return .failed(failure(.corrupted, problem, nil)) }
        received = 0
        checksum = 0
        heldBack = []
        return damage(problem)
    }

    private mutating func damage(_ problem: String) -> Conclusion { damage(failure(.corrupted, problem, nil)) }

    private mutating func damage(_ error: StorageError) -> Conclusion {
        damages += 1
        return damages > Self.damageLimit ? .failed(error) : .again(.damaged, error)
    }

    private func failure(_ kind: StorageError.Kind, _ message: String, _ status: Int?) -> StorageError {
        StorageError(kind, operation: "read", object: request.name, httpStatus: status, message: message)
    }
}
