import HTTPTransport
import Logging
import ObjectStore

@testable import CloudStores

/// The head of an answer with what follows it, taken for an answer to each kind of request.
enum HeadsTarget {
    static func run(_ input: [UInt8]) -> Bool {
        var rest = input[...]
        guard let head = try? rest.takeHead() else { return false }
        let answer = HTTPAnswer(head: head, body: Array(rest))
        if let text = head.first("content-range"), let range = ContentRange(text) { check(range.span, range.size) }
        if let media = try? MediaAnswer(head) { check(media.span, media.objectSize) }
        checkRefusal(answer)
        checkRead(answer, from: 0, count: nil)
        checkRead(answer, from: 5, count: 10)
        checkUpload(answer, in: DeafStores.googleCloud)
        checkUpload(answer, in: DeafStores.firebase)
        return head.status < 300
    }

    private static func check(_ span: Range<Int64>?, _ size: Int64?) {
        guard let span else { return }
        precondition(span.lowerBound >= 0 && span.upperBound <= size ?? .max, "\(span) of \(size ?? -1)")
    }

    private static func checkRefusal(_ answer: HTTPAnswer) {
        let refusal = ErrorAnswer(answer.head, body: answer.body)
        precondition(!refusal.message.contains(where: \.isNewline), "\(refusal)")
        let policy = RetryPolicy(timeLimit: .seconds(60))
        let pause = policy.pause(after: refusal.failure, .repeatable, failures: 1, idle: .seconds(1), random: 0.5)
        precondition((.zero...Duration.seconds(59)).contains(pause ?? .zero), "waits \(pause ?? .zero)")
    }

    /// No more bytes than were announced, and as many when all is well.
    private static func checkRead(_ answer: HTTPAnswer, from offset: Int64, count: Int64?) {
        let request = ReadRequest(name: DeafStores.name, offset: offset, count: count)
        var course = ReadCourse(request, asksForGeneration: count == nil)
        var announced: Int64?
        for _ in 0..<2 {
            course.beginAttempt()
            _ = course.rangeHeader
            let step = course.receive(answer.head)
            if let head = step.announcement { announced = head.count }
            if step.goesOn { _ = unsafe answer.body.withUnsafeBytes { unsafe course.receive($0) } }
            precondition(course.received <= announced ?? 0, "\(course)")
            guard case .finished = course.conclude(.success(()), isCancelled: false) else { continue }
            precondition(course.received == announced, "\(course)")
            return
        }
    }

    private static func checkUpload(_ answer: HTTPAnswer, in dialect: any UploadDialect) {
        if let session = dialect.session(answer) {
            precondition((1...(64 << 20)).contains(session.granularity), "\(session)")
            _ = (RequestURL.isPlainHTTP(session.address), RequestURL.isLoopback(session.address))
        }
        let upload = Upload(
            name: DeafStores.name, headers: ObjectHeaders(), precondition: .mustNotExist, source: Zeros(size: 100))
        for range in [nil, 0..<100] as [Range<Int64>?] {
            guard case .stored(let end)? = try? dialect.reply(in: answer, to: range, of: upload) else { continue }
            precondition(end >= 0, "the server has \(end) bytes")
        }
    }
}

/// Stores that nobody answers.
private enum DeafStores {
    static let name = ObjectName("folder/name.txt")
    static let googleCloud = AnswersTarget.googleCloud(AnsweringTransport([], on: WaitingThread()))
    static let firebase = AnswersTarget.firebase(AnsweringTransport([], on: WaitingThread()))
}
